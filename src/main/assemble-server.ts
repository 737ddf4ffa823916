import { catalogTypes } from '../engine/apiserver/admission/catalog-ports.ts';
import { compileCelExpression } from '../engine/apiserver/admission/policy/cel-expression.ts';
import { keepPolicyStatus } from '../engine/apiserver/admission/policy/policy-status.ts';
import type { WiderQuota } from '../engine/apiserver/admission/quota/resource-quota.ts';
import { serverAdmission } from '../engine/apiserver/admission/server-admission.ts';
import type { ReviewHandler, ServiceReference } from '../engine/apiserver/admission/webhook/call.ts';
import { serviceTargets } from '../engine/apiserver/admission/webhook/service-targets.ts';
import { Aggregator } from '../engine/apiserver/aggregator/aggregator.ts';
import { foreignServers } from '../engine/apiserver/aggregator/foreign-servers.ts';
import { identityEndpoints } from '../engine/apiserver/auth/endpoints.ts';
import { createIdentity, type Identity } from '../engine/apiserver/auth/identity.ts';
import { impersonate } from '../engine/apiserver/auth/impersonation.ts';
import { escalationPrevention } from '../engine/apiserver/auth/rbac/escalation-admission.ts';
import { NodeAuthorizer } from '../engine/apiserver/auth/node/node-authorizer.ts';
import { RbacAuthorizer } from '../engine/apiserver/auth/rbac/rbac-authorizer.ts';
import { builtinResources, ServiceAllocator } from '../engine/apiserver/builtin/index.ts';
import { conversionWebhooks } from '../engine/apiserver/crd/conversion-webhook.ts';
import { definitionStrategy } from '../engine/apiserver/crd/definition-strategy.ts';
import type { TokenAuthenticator } from '../engine/apiserver/auth/authentication/token-authenticator.ts';
import { FileAuditLog, type AuditRecord } from '../engine/apiserver/chain/audit.ts';
import type { ApiRequest, ApiResponse } from '../engine/apiserver/chain/request.ts';
import { NodeProxy } from '../engine/apiserver/node-proxy/node-proxy.ts';
import { NodeConnections } from '../engine/apiserver/node-proxy/node-connections.ts';
import { NodeTunnels } from '../engine/apiserver/node-proxy/node-tunnels.ts';
import { ANYWHERE } from '../engine/apiserver/outbound/outbound.ts';
import { tenantOutbound } from '../engine/apiserver/outbound/tenant-outbound.ts';
import { deleteAllObjects } from '../engine/apiserver/verbs/delete-collection.ts';
import { ResourceMetrics } from '../engine/apiserver/metrics-api/resource-metrics.ts';
import { CustomDefinitions, DEFINITIONS } from '../engine/apiserver/registry/custom-definitions.ts';
import type { ObjectReader } from '../engine/apiserver/registry/objects.ts';
import type { Resource } from '../engine/apiserver/registry/resource.ts';
import { ApiServer, createFoundation, type ServerFoundation } from '../engine/apiserver/server.ts';
import type { DurableStore } from '../engine/store/durable-store.ts';
import { realClock } from '../lib/clock.ts';
import { newUid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { parseCertificateRequest } from '../lib/pki/certificate-request.ts';
import { FRONT_PROXY_COMMON_NAME, type Pki } from '../lib/pki/ensure-pki.ts';
import { backupAnswer } from './backup-archive.ts';

export interface AssembledServer {
  server: ApiServer;
  foundation: ServerFoundation;
  aggregator: Aggregator;
  nodeProxy: NodeProxy;
  nodeTunnels: NodeTunnels;
  resourceMetrics: ResourceMetrics;
  definitions: CustomDefinitions;
  identity: Identity;
  audit: FileAuditLog;
}

type PathHandler = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

export interface AssemblyOptions {
  version: string;
  /** Where clients reach us. */
  url: string;
  log: Log;
  pki: Pki;
  store: DurableStore;
  auditPath: string;
  /** Where the files of `pki` are. */
  keyFolder: string;
  /** Whether who may do everything gets the keys with a backup. */
  servesBackup?: boolean;
  /** Whether nodes and their Pods are reached only through the tunnels that nodes open, and nothing else but the world. */
  onlyTunnels?: boolean;
  /** Webhooks that are functions of this process, by the service they are registered with. */
  inProcess?: (service: ServiceReference) => ReviewHandler | undefined;
  widerQuota?: () => WiderQuota | undefined;
  /** More kinds of bearer tokens than Kubernetes' own. */
  moreTokens?: (reader: ObjectReader) => TokenAuthenticator[];
  /** More paths that are answered as they are. */
  morePaths?: (reader: ObjectReader) => [string, PathHandler][];
  /** Told of every request that was answered, after the log. */
  onAudited?: (record: AuditRecord) => void;
}

/** Everything an API server is made of, wired together. Nothing is started and nothing is written yet. */
export function assembleServer({
  version,
  url,
  log,
  pki,
  store,
  auditPath,
  keyFolder,
  servesBackup = true,
  onlyTunnels = false,
  inProcess,
  widerQuota,
  moreTokens,
  morePaths,
  onAudited,
}: AssemblyOptions): AssembledServer {
  const services = new ServiceAllocator();
  const foundation = createFoundation(store, ownResources(services));
  const { objects, core } = foundation;
  services.follow(objects);
  const onError = (error: unknown) => log.error('background work failed', { error });
  const roles = new RbacAuthorizer(objects);
  const authorizer = new NodeAuthorizer(objects, roles);
  const identity = createIdentity({
    reader: objects,
    signingKey: pki.serviceAccountKeys.privateKey,
    verificationKeys: pki.formerServiceAccountKeys,
    frontProxyNames: [FRONT_PROXY_COMMON_NAME],
    moreTokens: moreTokens?.(objects),
    now: () => realClock.now(),
    newUid,
    onRefused: (reason) => log.info('a credential was refused', { reason }),
  });
  const nodeIdentity = () => ({
    certificate: pki.kubeletClient.certificatePem,
    key: pki.kubeletClient.keyPem,
    authority: pki.authority.certificatePem,
  });
  const nodeTunnels = new NodeTunnels({ authenticator: identity.authenticator, clock: realClock, isOnlyWay: onlyTunnels });
  const nodes = { identity: nodeIdentity, dial: nodeTunnels.dial.bind(nodeTunnels), clock: realClock };
  const outbound = onlyTunnels ? tenantOutbound(objects, new NodeConnections(nodes.identity, nodes.dial), realClock) : ANYWHERE;
  const aggregator = new Aggregator({
    outbound,
    writer: objects,
    clock: realClock,
    identity: () => ({ certificate: pki.frontProxyClient.certificatePem, key: pki.frontProxyClient.keyPem }),
    onError,
  });
  const definitions = new CustomDefinitions({
    core,
    objects,
    convert: conversionWebhooks(serviceTargets(objects), outbound),
    deleteAll: (resource) => deleteAllObjects(server.core, resource),
    log,
  });
  keepPolicyStatus({ writer: objects, compile: compileCelExpression, ...catalogTypes(core.catalog), onError });
  const audit = new FileAuditLog(auditPath, (error) => log.error('the audit log cannot be written; requests go on', { error }), onAudited);
  const routes = identityEndpoints({
    identity,
    authorizer,
    roles,
    admission: () => admission,
    reader: objects,
    now: core.now,
    externalUrl: url,
  });
  const admission = serverAdmission({
    writer: objects,
    authorizer,
    catalog: core.catalog,
    now: () => Date.now(),
    organizationsOf: (pem) => parseCertificateRequest(pem).subject.organizations,
    commonNameOf: (pem) => parseCertificateRequest(pem).subject.commonName,
    extra: [escalationPrevention(roles)],
    inProcess,
    outbound,
    widerQuota,
    onError,
  });
  const nodeProxy = new NodeProxy({ ...nodes, outbound, reader: objects, admission, authorizer });
  const resourceMetrics = new ResourceMetrics({ ...nodes, writer: objects, onError });
  const server = new ApiServer({
    foundation,
    authenticate: (credentials) => identity.authenticator.authenticate(credentials),
    impersonate,
    authorizer,
    admission,
    virtual: routes.virtual,
    subresources: new Map([...routes.subresources, ...nodeProxy.handlers()]),
    paths: new Map<string, PathHandler>([
      ...routes.paths,
      ...(servesBackup ? [['/tenantry/backup', () => backupAnswer(store, keyFolder)] as const] : []),
      ...(morePaths?.(objects) ?? []),
    ]),
    custom: () => definitions.published(),
    foreign: foreignServers(aggregator, resourceMetrics),
    audit,
    health: [{ name: 'ping', check: () => undefined }],
    version: versionInfo(version),
    log,
  });
  return { server, foundation, aggregator, nodeProxy, nodeTunnels, resourceMetrics, definitions, identity, audit };
}

function ownResources(services: ServiceAllocator): Resource[] {
  const resources = builtinResources({ services });
  const definitions = resources.find(({ resource }) => resource === DEFINITIONS.resource)!;
  definitions.strategy = definitionStrategy(definitions.strategy);
  return resources;
}

/** Clients decide by these numbers what they may ask for: we speak Kubernetes 1.35. */
function versionInfo(version: string): object {
  return {
    major: '1',
    minor: '35',
    emulationMajor: '1',
    emulationMinor: '35',
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '34',
    gitVersion: `v1.35.4+tenantry-${version}`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '',
    goVersion: '',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
