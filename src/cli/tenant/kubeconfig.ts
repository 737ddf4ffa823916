import { generateKeyPairSync } from 'node:crypto';
import { TenantKind, type Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { CertificateSigningRequest, ConfigMap, ServiceAccount } from '../../client/kinds.ts';
import { parseGoDuration } from '../../kube/go-duration.ts';
import type { Json } from '../../kube/object.ts';
import { createCertificateRequest } from '../../lib/pki/certificate-request.ts';
import { kubeconfigText, type KubeconfigParts } from '../../lib/pki/kubeconfig.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { ownerOf } from './tenant-request.ts';

export interface KubeconfigFlags {
  owner?: string;
  /** Who it is for, when the owner is a group. */
  for?: string;
  duration?: string;
}

type Owner = NonNullable<Tenant['spec']['owners']>[number];

const SIGNED_WITHIN_MS = 30_000;
const SHORTEST_SECONDS = 600;

/** A kubeconfig for an owner: it reaches the tenant's namespaces and nothing else, and ends by itself. */
export async function kubeconfig(session: Session, name: string, flags: KubeconfigFlags): Promise<number> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  const text = await attempting(`make a kubeconfig for tenant "${name}"`, where, () => makeKubeconfig(session, name, flags));
  session.out(text);
  return 0;
}

async function makeKubeconfig(session: Session, name: string, flags: KubeconfigFlags): Promise<string> {
  const { client, server } = session.cluster;
  const tenant = await client.resource(TenantKind).get(name);
  const owner = chosenOwner(tenant, flags);
  const seconds = secondsOf(flags.duration ?? '24h');
  const roots = await client.resource(ConfigMap, name).get('kube-root-ca.crt');
  const user = owner.kind === 'Group' ? (flags.for ?? '') : owner.name;
  if (user === '') throw new Error(`Cannot make a kubeconfig for group "${owner.name}": a group is nobody; say for whom with --for <user>`);
  const credentials =
    owner.kind === 'ServiceAccount' ? await tokenFor(session, owner, seconds) : await certificateFor(session, user, owner, seconds);
  return kubeconfigText({ server, authorityPem: String(roots.data?.['ca.crt']), credentials, cluster: name, user, namespace: name });
}

function secondsOf(duration: string): number {
  const ms = parseGoDuration(duration);
  if (ms === undefined || ms < SHORTEST_SECONDS * 1000)
    throw new Error(`Cannot read --duration "${duration}": write at least 10m, such as 8h or 24h`);
  return Math.trunc(ms / 1000);
}

function chosenOwner({ metadata, spec }: Tenant, flags: KubeconfigFlags): Owner {
  const owners = spec.owners ?? [];
  if (owners.length === 0)
    throw new Error(`Cannot make a kubeconfig: tenant "${metadata.name}" has no owners; add one to spec.owners first`);
  if (flags.owner === undefined) return owners[0];
  const wanted = ownerOf(flags.owner);
  const found = owners.find((each) => each.kind === wanted.kind && each.name === wanted.name && each.namespace === wanted.namespace);
  if (!found)
    throw new Error(`Cannot make a kubeconfig: "${flags.owner}" is no owner of tenant "${metadata.name}"; add it to spec.owners first`);
  return found;
}

async function tokenFor(
  { cluster: { client } }: Session,
  owner: Owner,
  expirationSeconds: number,
): Promise<KubeconfigParts['credentials']> {
  const tokens = client.resource(ServiceAccount, owner.namespace).subresource<Json>('token');
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: { expirationSeconds } };
  const { status } = await tokens.create(owner.name, body);
  return { token: status.token };
}

/** Asked for, approved and signed as any certificate of the cluster is. */
async function certificateFor(
  session: Session,
  user: string,
  owner: Owner,
  expirationSeconds: number,
): Promise<KubeconfigParts['credentials']> {
  const requests = session.cluster.client.resource(CertificateSigningRequest);
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = { commonName: user, organizations: owner.kind === 'Group' ? [owner.name] : [] };
  const { metadata } = await requests.create({
    metadata: { generateName: 'tenantry-owner-' },
    spec: {
      request: Buffer.from(createCertificateRequest(subject, keys)).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      expirationSeconds,
      usages: ['digital signature', 'key encipherment', 'client auth'],
    },
  });
  const name = metadata.name!;
  try {
    const condition = { type: 'Approved', status: 'True', reason: 'TenantOwner', message: 'asked for by `tenantry tenant kubeconfig`' };
    const latest = await requests.get(name);
    await requests.subresource<Json>('approval').update(name, { ...latest, status: { ...latest.status, conditions: [condition] } });
    const certificatePem = await signed(session, name);
    return { certificatePem, keyPem: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  } finally {
    await requests.delete(name).catch(() => {});
  }
}

async function signed(session: Session, name: string): Promise<string> {
  const signal = AbortSignal.timeout(SIGNED_WITHIN_MS);
  const requests = session.cluster.client.resource(CertificateSigningRequest);
  for await (const update of requests.watch({ fieldSelector: `metadata.name=${name}`, signal })) {
    if (!('object' in update)) continue;
    const certificate: string | undefined = update.object.status?.certificate;
    if (certificate) return Buffer.from(certificate, 'base64').toString();
  }
  throw new Error(`Cannot get a certificate: nobody signed request "${name}"; is there a signer for kubernetes.io/kube-apiserver-client?`);
}
