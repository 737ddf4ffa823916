import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../../../lib/clock.ts';
import { client, ensureAuthority, ensureLeaf, ensurePki, type LeafTemplate } from '../../../../lib/pki/ensure-pki.ts';
import { KeyFiles, type CertificateFile, type EncryptionKey } from '../../../../lib/pki/key-files.ts';
import { readIfPresent, replaceFile } from '../../../../lib/pki/private-file.ts';
import type { WantedControlPlane } from '../control-planes.ts';
import { ensureOwner, firstEnd } from '../process/owner-keys.ts';
import type { PlaneKeys } from '../process/plane-kind.ts';
import { SERVICE_ADDRESS } from './model/program-arguments.ts';
import { KONNECTIVITY_SOCKET } from './model/programs.ts';
import { ETCD_HOSTS, inDataFolder, KEYS } from './model/store-members.ts';

export interface KeyNeeds {
  /** Addresses that the API server and the tunnel are reached by. */
  addresses: readonly string[];
  /** Where controllers and scheduler find the API server. */
  server: string;
  /** Further names of the API server. */
  hosts?: readonly string[];
  /** Names that etcd is reached by. */
  etcdHosts: readonly string[];
  /** How the programs see the folder of the keys, and the socket of the tunnel. */
  keyFolder: string;
  tunnelSocket: string;
}

/** Of programs that run in the data folder of their cluster. */
export const BESIDE_THE_DATA = { etcdHosts: ETCD_HOSTS, keyFolder: inDataFolder(KEYS), tunnelSocket: KONNECTIVITY_SOCKET };

/**
 * The three authorities, all pairs, and the files that tell the programs about them. Makes what is missing, renews what ends soon.
 */
export async function ensureKubernetesKeys(
  folder: string,
  { names, accessRevision }: WantedControlPlane,
  { addresses, server, hosts = [], etcdHosts, keyFolder, tunnelSocket }: KeyNeeds,
  clock: Pick<Clock, 'now'>,
  leavesSince?: number,
): Promise<PlaneKeys> {
  const now = clock.now();
  const hostNames = [...hosts, ...names.filter((name) => isIP(name) === 0)];
  const allAddresses = [...addresses, ...names.filter((name) => isIP(name) !== 0)];
  const pki = await ensurePki(folder, { names: hostNames, addresses: [...allAddresses, SERVICE_ADDRESS], leavesSince, clock });
  const files = new KeyFiles(folder);
  const store = await ensureAuthority(files, 'etcd-ca', 'tenantry-etcd-ca', now, leavesSince);
  const [etcdServer, etcdPeer, etcdClient, healthClient, tunnel, controllerManager, scheduler] = await Promise.all([
    ensureLeaf(files, 'etcd-server', store, now, both('etcd', etcdHosts, ['127.0.0.1'])),
    ensureLeaf(files, 'etcd-peer', store, now, both('etcd', etcdHosts, ['127.0.0.1'])),
    ensureLeaf(files, 'apiserver-etcd-client', store, now, client('kube-apiserver-etcd-client', [])),
    ensureLeaf(files, 'etcd-healthcheck-client', store, now, client('kube-etcd-healthcheck-client', [])),
    ensureLeaf(files, 'konnectivity-server', pki.authority, now, both('system:konnectivity-server', hostNames, allAddresses)),
    ensureLeaf(files, 'controller-manager', pki.authority, now, client('system:kube-controller-manager', [])),
    ensureLeaf(files, 'scheduler', pki.authority, now, client('system:kube-scheduler', [])),
  ]);
  await files.flush();
  const { owner, ownerGroup } = await ensureOwner(folder, pki.authority, accessRevision, now);
  await Promise.all([
    // Others may stand beside it in its file, and who signs takes one alone.
    keepFile(join(folder, 'ca-signing.crt'), pki.authority.certificate.toString()),
    keepFile(join(folder, 'controller-manager.conf'), kubeconfigOf('controller-manager', server, keyFolder)),
    keepFile(join(folder, 'scheduler.conf'), kubeconfigOf('scheduler', server, keyFolder)),
    keepFile(join(folder, 'egress.json'), JSON.stringify(egressThrough(tunnelSocket))),
    keepFile(join(folder, 'encryption.json'), JSON.stringify(encryptionConfiguration(pki.encryptionKeys))),
  ]);
  const { authority, frontProxyAuthority, serving, kubeletClient, admin, frontProxyClient } = pki;
  const leaves = [serving, kubeletClient, admin, frontProxyClient, owner, etcdServer, etcdPeer, etcdClient, healthClient];
  const all = [...leaves, tunnel, controllerManager, scheduler];
  return {
    authorityPem: authority.certificatePem,
    frontProxyAuthorityPem: frontProxyAuthority.certificatePem,
    owner,
    ownerGroup,
    platform: admin,
    expire: firstEnd([...all, authority, frontProxyAuthority, store]),
    edition: editionOf(all),
  };
}

function both(commonName: string, dnsNames: readonly string[], addresses: readonly string[]): LeafTemplate {
  return {
    subject: { commonName, organizations: [] },
    usages: ['digital signature', 'key encipherment', 'server auth', 'client auth'],
    alternativeNames: { dnsNames: [...dnsNames], addresses: [...new Set(addresses)] },
  };
}

function editionOf(certificates: readonly CertificateFile[]): string {
  const hash = createHash('sha256');
  for (const { certificate } of certificates) hash.update(certificate.serialNumber);
  return hash.digest('hex');
}

/** With the certificate in files, which clients read again when they change. */
function kubeconfigOf(name: string, server: string, keyFolder: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'own', cluster: { server, 'certificate-authority': `${keyFolder}/ca.crt` } }],
    users: [
      {
        name,
        user: {
          'client-certificate': `${keyFolder}/${name}.crt`,
          'client-key': `${keyFolder}/${name}.key`,
        },
      },
    ],
    contexts: [{ name: 'own', context: { cluster: 'own', user: name } }],
    'current-context': 'own',
  });
}

/** What the API server has to say to nodes, webhooks and extension API servers goes through the tunnel, and in no other way. */
function egressThrough(udsName: string): unknown {
  return {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection: { proxyProtocol: 'GRPC', transport: { uds: { udsName } } } }],
  };
}

function encryptionConfiguration(keys: readonly EncryptionKey[]): unknown {
  const secretbox = { keys: keys.map(({ id, key }) => ({ name: id, secret: key.toString('base64') })) };
  return {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ secretbox }, { identity: {} }] }],
  };
}

async function keepFile(path: string, text: string): Promise<void> {
  if ((await readIfPresent(path)) !== text) await replaceFile(path, text, 0o600);
}
