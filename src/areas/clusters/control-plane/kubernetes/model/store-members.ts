import { keysIn } from './program-arguments.ts';

/** One of the processes of etcd that together are the store of a control plane. */
export interface StoreMember {
  name: string;
  /** Its data, in the data folder of the cluster. */
  folder: string;
  /** Sockets in the data folder. etcd takes only what looks like a host with a port. */
  clientSocket: string;
  peerUrl: string;
}

/** The programs run in the cluster's data folder; keys are beside it. */
export const KEYS = '../pki';
/** Of the first member, and of the only one. */
export const ETCD_SOCKET = 'etcd:0';
export const STORE_FOLDER = 'store';
/** What etcd's certificate must be good for: the sockets' names without what looks like a port. */
export const ETCD_HOSTS = ['etcd', 'peer'];

/** Some make paths absolute, and the cluster's user may not enter the folders above its own. */
export function inDataFolder(name: string): string {
  return `/proc/self/cwd/${name}`;
}

/** One has the whole folder of the store; of several each has a part, so that all of them can be replaced in one step. */
export function storeMembers(count: number, store = STORE_FOLDER): StoreMember[] {
  if (count === 1) return [{ name: 'etcd', folder: store, clientSocket: ETCD_SOCKET, peerUrl: 'unixs://peer:0' }];
  return Array.from({ length: count }, (_, index) => ({
    name: `etcd-${index}`,
    folder: `${store}/${index}`,
    clientSocket: `etcd:${index}`,
    // etcd has no TLS between members on sockets; these are in a folder that only the cluster's user can enter.
    peerUrl: `unix://peer:${index}`,
  }));
}

/** Of etcd, where it starts and where a snapshot becomes its store. */
export function memberArguments({ name, peerUrl }: StoreMember, all: readonly StoreMember[]): string[] {
  return [
    `--name=${name}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=${all.map((member) => `${member.name}=${member.peerUrl}`).join(',')}`,
  ];
}

/** How large it may become is told to it when it starts: another size ends no process. */
export function etcdArguments(member: StoreMember, all: readonly StoreMember[]): string[] {
  const key = keysIn(KEYS);
  const peerKeys = [
    `--peer-cert-file=${key('etcd-peer.crt')}`,
    `--peer-key-file=${key('etcd-peer.key')}`,
    `--peer-trusted-ca-file=${key('etcd-ca.crt')}`,
    '--peer-client-cert-auth',
  ];
  return [
    ...memberArguments(member, all),
    `--data-dir=${inDataFolder(member.folder)}`,
    `--listen-client-urls=unixs://${member.clientSocket}`,
    `--advertise-client-urls=unixs://${member.clientSocket}`,
    `--listen-peer-urls=${member.peerUrl}`,
    `--cert-file=${key('etcd-server.crt')}`,
    `--key-file=${key('etcd-server.key')}`,
    `--trusted-ca-file=${key('etcd-ca.crt')}`,
    '--client-cert-auth',
    ...(all.length === 1 ? peerKeys : []),
    '--log-level=warn',
  ];
}

/** What has to become of the store on the disk before it can be that of `wanted` members. `lost`: too little is left to make anything of it. */
export type StoreChange = 'none' | 'lost' | { from: StoreMember[] };

/** `has`: whether a member's folder holds data. `served`: whether there were objects in it, and not only a try to make one. */
export function storeChange(wanted: number, has: (folder: string) => boolean, served: boolean): StoreChange {
  const members = storeMembers(wanted);
  const there = members.filter(({ folder }) => has(folder));
  if (there.length === members.length) return 'none';
  // Of a member that was lost, the others make a new one, as long as they are most of them.
  if (there.length > wanted / 2) return { from: members };
  for (const other of STORE_SIZES.filter((size) => size !== wanted)) {
    const formerly = storeMembers(other);
    if (formerly.filter(({ folder }) => has(folder)).length > other / 2) return { from: formerly };
  }
  return served ? 'lost' : 'none';
}

/** How many members a store can have here. */
export const STORE_SIZES = [1, 3] as const;
