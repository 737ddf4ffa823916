import type { Clock } from '../../../../lib/clock.ts';
import type { Log } from '../../../../lib/log.ts';
import { ControlPlaneError, type WantedControlPlane } from '../control-planes.ts';
import { addEncryptionKeys } from '../process/owner-keys.ts';
import { ClusterFolders, type ClusterRecord } from '../process/cluster-folder.ts';
import type { PlaneGroups } from '../process/plane-groups.ts';
import type { PlaneKind, PlanePlace } from '../process/plane-kind.ts';
import { ProcessControlPlanes } from '../process/process-control-planes.ts';
import { replaceObjects } from '../process/replace-objects.ts';
import type { ProgramSet } from './find-programs.ts';
import { BESIDE_THE_DATA, ensureKubernetesKeys } from './kubernetes-keys.ts';
import { programPlan, type PlaneLayout } from './model/programs.ts';
import { PlaneNetwork } from './plane-network.ts';

export interface KubernetesOptions {
  /** The folder of all clusters. */
  root: string;
  /** The program that looks after those of a control plane. */
  program: string;
  /** Of the product: a process of another version is replaced. */
  productVersion: string;
  /** Where endpoints listen that have no address of their own. */
  address: string;
  sets: readonly ProgramSet[];
  /** Who gives each control plane a network of its own, or why nobody does. */
  network: PlaneNetwork | string;
  groups?: PlaneGroups;
  maxBackupBytes?: number;
  clock: Clock;
  log: Log;
}

/** The kernel ends a program with whoever started it. */
const WITH_PARENT = ['setpriv', '--pdeathsig', 'KILL', '--'];

/** Control planes of real Kubernetes: etcd, kube-apiserver and the others as processes of this machine, for each cluster its own. */
export class KubernetesControlPlanes extends ProcessControlPlanes {
  constructor(options: KubernetesOptions) {
    super(kubernetesKind(options), options);
  }
}

/** With networks of their own where this machine can make them. */
export async function openKubernetesPlanes(options: Omit<KubernetesOptions, 'network'>): Promise<KubernetesControlPlanes> {
  return new KubernetesControlPlanes({ ...options, network: await PlaneNetwork.open(new ClusterFolders(options.root)) });
}

function kubernetesKind({ program, productVersion, sets, network: able }: KubernetesOptions): PlaneKind {
  const network = typeof able === 'string' ? undefined : able;
  return {
    provider: 'kubernetes',
    program,
    files: sets.flatMap(({ paths, etcdutl }) => [...Object.values(paths), etcdutl]),
    loadsAhead: false,
    needs: { memoryBytes: 4 * 1024 ** 3, leastMemoryBytes: 768 * 1024 ** 2, pids: 2048 },
    allocate(give, { link, sharedUser }) {
      const ports = { tunnelPort: give.port(), innerPorts: [give.port(), give.port()] };
      if (network !== undefined) return { ...ports, link: link ?? give.link() };
      return { ...ports, sharedUser: sharedUser ?? `its programs share the network of this machine: ${able as string}` };
    },
    // Before anything is touched: one that runs goes on without the files of its programs.
    check: ({ version }) => void setOf(sets, version),
    addressOf: (record) => network?.addressOf(record),
    surroundings: (_wanted, { id, record }) => (hasNetwork(record) ? [network!.resource(id, record)] : []),
    startedBy: ({ record }) => (hasNetwork(record) ? network!.startedBy(record) : []),
    authorities: { ca: 'tenantry-ca', 'front-proxy-ca': 'tenantry-front-proxy-ca', 'etcd-ca': 'tenantry-etcd-ca' },
    ensureKeys(wanted, place, clock, leavesSince) {
      const { innerAddress, port } = layoutOf(setOf(sets, wanted.version), place, wanted, network);
      const needs = { ...BESIDE_THE_DATA, addresses: [place.address, innerAddress], server: `https://${innerAddress}:${port}` };
      return ensureKubernetesKeys(place.folders.pki(place.id), wanted, needs, clock, leavesSince);
    },
    go: (wanted, place) => ({ productVersion, programs: programPlan(layoutOf(setOf(sets, wanted.version), place, wanted, network)) }),
    tunnel: ({ address, record }) => ({ address, port: record.tunnelPort! }),
    restore: ({ id, version }, { folders, record: { user } }, source, signal) => {
      const args = [`--etcdutl=${setOf(sets, version).etcdutl}`];
      const keepKeys = async (encryptionKeys: string) => {
        await addEncryptionKeys(folders.pki(id), encryptionKeys);
        await folders.shareKeys(id, user);
      };
      return replaceObjects({ program, args, user, folder: folders.data(id), logPath: folders.log(id) }, source, keepKeys, signal);
    },
  };
}

function hasNetwork({ link }: ClusterRecord): boolean {
  return link !== undefined;
}

function layoutOf(
  { paths, etcdutl }: ProgramSet,
  { address, record }: PlanePlace,
  { replicas = 1 }: WantedControlPlane,
  network: PlaneNetwork | undefined,
): PlaneLayout {
  const { port, tunnelPort, innerPorts } = record;
  const isAlone = hasNetwork(record);
  return {
    paths,
    etcdutl,
    replicas,
    innerAddress: isAlone ? '127.0.0.1' : address,
    listenAddress: isAlone ? '0.0.0.0' : address,
    endpointAddresses: isAlone ? ['127.0.0.1', network!.addressOf(record)!] : [address],
    advertisedAddress: address,
    port,
    tunnelPort: tunnelPort!,
    innerPorts: innerPorts!,
    withParent: WITH_PARENT,
  };
}

/** @throws ControlPlaneError */
function setOf(sets: readonly ProgramSet[], version: string): ProgramSet {
  const set = sets.find((candidate) => candidate.version === version);
  if (set !== undefined) return set;
  const there = sets.map((candidate) => candidate.version).join(', ') || 'none';
  throw new ControlPlaneError(
    'NoProvider',
    `there are no programs of Kubernetes ${version} here (found: ${there}); put them back, or upgrade it`,
  );
}
