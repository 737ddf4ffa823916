import {
  apiserverArguments,
  controllerManagerArguments,
  ETCD_LIMITS,
  keysIn,
  konnectivityArguments,
  schedulerArguments,
  type ApiserverPlace,
} from './program-arguments.ts';
import type { ProgramName, ProgramPlan, ProgramSpec } from './program-plan.ts';

/** The addresses and ports of one control plane, and where its programs are. */
export interface PlaneLayout {
  /** Folder of etcd, kube-apiserver and the others. */
  paths: Readonly<Record<ProgramName, string>>;
  /** Where the programs find the API server and each other. */
  innerAddress: string;
  /** Where the API server and the tunnel listen: the same one, or all there are in a network of their own. */
  listenAddress: string;
  /** What nodes are told to reach the API server by. */
  advertisedAddress: string;
  port: number;
  tunnelPort: number;
  /** Of konnectivity's administration and health. */
  innerPorts: readonly number[];
  withParent: readonly string[];
}

/** The programs run in the cluster's data folder; keys are beside it. */
export const KEYS = '../pki';
/** etcd takes only what looks like a host with a port; it is the name of a socket in the data folder. */
export const ETCD_SOCKET = 'etcd:0';
const PEER_SOCKET = 'peer:0';
/** What etcd's certificate must be good for: the sockets' names without what looks like a port. */
export const ETCD_HOSTS = ['etcd', 'peer'];
export const STORE_FOLDER = 'store';
export const KONNECTIVITY_SOCKET = 'konnectivity.sock';

/** Of etcd, where it starts and where a snapshot becomes its store. */
export const ETCD_MEMBER = [
  '--name=etcd',
  `--initial-advertise-peer-urls=unixs://${PEER_SOCKET}`,
  `--initial-cluster=etcd=unixs://${PEER_SOCKET}`,
];

/** Some make paths absolute, and the cluster's user may not enter the folders above its own. */
export function inDataFolder(name: string): string {
  return `/proc/self/cwd/${name}`;
}

const key = keysIn(KEYS);

export function programPlan(layout: PlaneLayout): ProgramPlan {
  const { paths, withParent } = layout;
  const program = (name: ProgramName, args: string[], more: Partial<ProgramSpec> = {}): ProgramSpec => ({
    name,
    path: paths[name],
    args,
    afterReady: false,
    readsKeysOnce: false,
    ...more,
  });
  return {
    server: { address: layout.innerAddress, port: layout.port },
    withParent,
    programs: [
      program('etcd', etcdArguments()),
      program('kube-apiserver', apiserverArguments(apiserverPlace(layout)), { afterSocket: ETCD_SOCKET }),
      program('konnectivity-server', konnectivityArguments({ ...layout, keys: KEYS, socket: KONNECTIVITY_SOCKET, servers: 1 }), {
        readsKeysOnce: true,
      }),
      program('kube-controller-manager', controllerManagerArguments(ALONE), { afterReady: true }),
      program('kube-scheduler', schedulerArguments(ALONE), { afterReady: true }),
    ],
  };
}

/** One replica has nobody to agree with. */
const ALONE = { keys: KEYS, leaderElect: false };

function apiserverPlace({ listenAddress, advertisedAddress, port }: PlaneLayout): ApiserverPlace {
  const isReachable = !advertisedAddress.startsWith('127.');
  const etcdServers = `unixs://${ETCD_SOCKET}`;
  return { keys: KEYS, etcdServers, listenAddress, port, advertisedAddress: isReachable ? advertisedAddress : undefined };
}

function etcdArguments(): string[] {
  return [
    ...ETCD_MEMBER,
    `--data-dir=${inDataFolder(STORE_FOLDER)}`,
    `--listen-client-urls=unixs://${ETCD_SOCKET}`,
    `--advertise-client-urls=unixs://${ETCD_SOCKET}`,
    `--listen-peer-urls=unixs://${PEER_SOCKET}`,
    `--cert-file=${key('etcd-server.crt')}`,
    `--key-file=${key('etcd-server.key')}`,
    `--trusted-ca-file=${key('etcd-ca.crt')}`,
    '--client-cert-auth',
    `--peer-cert-file=${key('etcd-peer.crt')}`,
    `--peer-key-file=${key('etcd-peer.key')}`,
    `--peer-trusted-ca-file=${key('etcd-ca.crt')}`,
    '--peer-client-cert-auth',
    ...ETCD_LIMITS,
  ];
}
