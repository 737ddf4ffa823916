import {
  GATEWAY_NAME,
  PLATFORM_NAMESPACE,
  PLATFORM_SETTINGS,
  PULL_SECRET_LABEL,
  TOKEN_JWKS,
  TOKEN_KEYS,
  WORKLOAD_LABEL,
} from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginInstallationKind, type PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PluginPolicyKind, type PluginPolicy } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';
import { PluginVersionKind, pluginVersionName, type PluginVersion } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { SUSPENDED_ANNOTATION } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { TenantKind, type Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { ConfigMap, EndpointSlice, Namespace, Pod, Secret } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { DataClaims } from '../claims/data-claims.ts';
import { TenantClaims } from '../claims/tenant-claims.ts';
import { PlatformDatabase } from '../database/platform-database.ts';
import { PluginTokens } from '../identity/plugin-tokens.ts';
import { TokenKeys } from '../identity/token-keys.ts';
import { PlatformBroker } from '../kafka/platform-broker.ts';
import { PluginEvents } from '../kafka/plugin-events.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { PlacedPlugins } from '../placement/placed-plugins.ts';
import type { Place } from '../placement/model/choose-place.ts';
import { GatewayReports } from '../rollout/gateway-reports.ts';
import { ExternalSecrets } from '../secrets/external/external-secrets.ts';
import { PlatformSecrets } from '../secrets/platform-secrets.ts';
import { StoredSecrets } from '../secrets/stored-secrets.ts';
import { pluginNamespaceOf } from './model/plugin-names.ts';
import { targetOf, versionsAtWork, type Target } from './model/target.ts';
import { PluginNamespaces } from './plugin-namespaces.ts';
import { PluginObjects } from './plugin-objects.ts';

/** What the controllers of installations read, and what they write with. */
export interface InstallationParts {
  installations: Informer<PluginInstallation>;
  versions: Informer<PluginVersion>;
  policies: Informer<PluginPolicy>;
  tenants: Informer<Tenant>;
  namespaceCache: Informer;
  /** Of plugins: what became of their containers. */
  pods: Informer;
  reports: GatewayReports;
  /** Where plugins reach the gateway. */
  gatewaySlices: Informer;
  keySecret: Informer;
  jwks: Informer;
  pullSecrets: Informer;
  objects: PluginObjects;
  namespaces: PluginNamespaces;
  tokens: PluginTokens;
  secrets: PlatformSecrets;
  database: PlatformDatabase;
  broker: PlatformBroker;
  events: PluginEvents;
  eventClaims: TenantClaims;
  dataClaims: DataClaims;
  placed: PlacedPlugins;
  /** By itself, or with its tenant. */
  isSuspended(installation: PluginInstallation): boolean;
  /** @throws when the version that it aims at is not there: a step made sure before */
  target(installation: PluginInstallation): Target;
  targetIfKnown(installation: PluginInstallation): Target | undefined;
  /** Where it has to run. */
  placeOf(installation: PluginInstallation): Place;
}

export function installationParts({ client, clock, informers, embeddedDatabase, homes }: PluginsEnvironment): InstallationParts {
  const installations = informers.get(PluginInstallationKind);
  installations.addIndex('namespace', ({ metadata, spec }) => [pluginNamespaceOf(metadata.namespace!, spec.plugin)]);
  const versions = informers.get(PluginVersionKind);
  versions.addIndex('plugin', ({ spec }) => [`${spec.publisher}/${spec.plugin}`]);
  const policies = informers.get(PluginPolicyKind);
  policies.addIndex('tenant', ({ metadata }) => [metadata.namespace!]);
  const tenants = informers.get(TenantKind, { metadataOnly: true });
  const namespaceCache = informers.get(Namespace, { metadataOnly: true }) as Informer;
  const named = (name: string) => ({ namespace: PLATFORM_NAMESPACE, fieldSelector: `metadata.name=${name}` });
  const keySecret = informers.get(Secret, named(TOKEN_KEYS)) as Informer;
  const jwks = informers.get(ConfigMap, named(TOKEN_JWKS)) as Informer;
  const settings = informers.get(Secret, named(PLATFORM_SETTINGS)) as Informer;
  const objects = new PluginObjects(client, informers);
  const pods = informers.get(Pod, { labelSelector: WORKLOAD_LABEL, transform: withoutSpec });
  pods.addIndex('workload', ({ metadata }) => [`${metadata.namespace}/${metadata.labels![WORKLOAD_LABEL]}`]);
  const isSuspended = ({ metadata, spec }: PluginInstallation): boolean =>
    spec.suspended === true || namespaceCache.get(metadata.namespace!)?.metadata.annotations?.[SUSPENDED_ANNOTATION] !== undefined;
  const placed = new PlacedPlugins({ homes, clock, namespaces: namespaceCache });
  const targetIfKnown = (installation: PluginInstallation): Target | undefined => {
    const version = aimedAt(installation, versions);
    return version && targetOf(installation, version, isSuspended(installation));
  };
  return {
    installations,
    versions,
    policies,
    tenants,
    namespaceCache,
    pods,
    reports: new GatewayReports(client, informers),
    gatewaySlices: informers.get(EndpointSlice, {
      namespace: PLATFORM_NAMESPACE,
      labelSelector: `kubernetes.io/service-name=${GATEWAY_NAME}`,
    }) as unknown as Informer,
    keySecret,
    jwks,
    pullSecrets: informers.get(Secret, { namespace: PLATFORM_NAMESPACE, labelSelector: PULL_SECRET_LABEL }),
    objects,
    namespaces: new PluginNamespaces(client, namespaceCache),
    tokens: new PluginTokens(objects, new TokenKeys(client, keySecret), jwks),
    secrets: new PlatformSecrets(settings, new StoredSecrets(client, informers), new ExternalSecrets(client, informers, objects)),
    database: new PlatformDatabase(settings, embeddedDatabase),
    broker: new PlatformBroker(settings, clock),
    events: new PluginEvents(objects),
    eventClaims: new TenantClaims('events', client, informers, tenants),
    dataClaims: new DataClaims(client, new TenantClaims('data', client, informers, tenants)),
    placed,
    isSuspended,
    targetIfKnown,
    target(installation) {
      const known = targetIfKnown(installation);
      if (known) return known;
      const { metadata, spec, status } = installation;
      const name = pluginVersionName(spec.publisher, spec.plugin, status?.target?.version ?? '');
      throw new Error(`Cannot install "${metadata.name}": the version ${name} is gone; publish it again`);
    },
    placeOf(installation) {
      const target = targetIfKnown(installation);
      return placed.placeOf(installation, target ? versionsAtWork(installation, target, (name) => versions.get(name)) : []);
    },
  };
}

/** Only what became of them is looked at. */
function withoutSpec({ apiVersion, kind, metadata, status }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { ...metadata, managedFields: undefined }, status };
}

export function pullSecretFrom(secrets: Informer, name: string, publisher: string): KubeObject | undefined {
  const secret = secrets.find(PLATFORM_NAMESPACE, name);
  return secret?.metadata.labels?.[PULL_SECRET_LABEL] === publisher ? secret : undefined;
}

function aimedAt({ spec, status }: PluginInstallation, versions: Informer<PluginVersion>): PluginVersion | undefined {
  return versions.get(pluginVersionName(spec.publisher, spec.plugin, status?.target?.version ?? ''));
}
