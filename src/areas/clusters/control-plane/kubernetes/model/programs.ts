import {
  apiserverArguments,
  controllerManagerArguments,
  konnectivityArguments,
  schedulerArguments,
  type ApiserverPlace,
} from './program-arguments.ts';
import type { ProgramName, ProgramPlan, ProgramSpec } from './program-plan.ts';
import { etcdArguments, KEYS, storeMembers } from './store-members.ts';

export { ETCD_HOSTS, ETCD_SOCKET, KEYS } from './store-members.ts';

/** The addresses and ports of one control plane, and where its programs are. */
export interface PlaneLayout {
  /** Folder of etcd, kube-apiserver and the others. */
  paths: Readonly<Record<ProgramName, string>>;
  /** Where the programs find the API server and each other. */
  innerAddress: string;
  /** Where the API server and the tunnel listen: the same one, or all there are in a network of their own. */
  listenAddress: string;
  /** Those of them one by one: where several API servers share an endpoint, others of this machine are theirs. */
  endpointAddresses: readonly string[];
  /** What nodes are told to reach the API server by. */
  advertisedAddress: string;
  port: number;
  tunnelPort: number;
  /** Of konnectivity's administration and health. */
  innerPorts: readonly number[];
  withParent: readonly string[];
  etcdutl: string;
  /** Of API server, controllers, scheduler and store: 1 or 3. */
  replicas: number;
}

export const KONNECTIVITY_SOCKET = 'konnectivity.sock';

export function programPlan(layout: PlaneLayout): ProgramPlan {
  const { paths, withParent, port, replicas, etcdutl } = layout;
  const isShared = replicas > 1;
  const program = (name: ProgramName, args: string[], more: Partial<ProgramSpec> = {}): ProgramSpec => ({
    name,
    path: paths[name],
    args,
    afterReady: false,
    readsKeysOnce: false,
    ...more,
  });
  /** One for each replica; `undefined` stands for the only one. */
  const each = (make: (replica: number | undefined) => ProgramSpec) =>
    isShared ? Array.from({ length: replicas }, (_, replica) => make(replica)) : [make(undefined)];
  const members = storeMembers(replicas);
  const agreed = { keys: KEYS, leaderElect: isShared };
  const plan: ProgramPlan = {
    server: { address: layout.innerAddress, port },
    withParent,
    store: { members: replicas, etcd: paths.etcd, etcdutl },
    programs: [
      ...each((replica) => program('etcd', etcdArguments(members[replica ?? 0], members), { replica })),
      ...each((replica) => {
        // The first alone: the others would take its processor from it.
        const when = replica === undefined || replica === 0 ? { afterSocket: members[0].clientSocket } : { afterReady: true };
        return program('kube-apiserver', apiserverArguments(apiserverPlace(layout, replica)), { replica, ...when });
      }),
      program('konnectivity-server', konnectivityArguments({ ...layout, keys: KEYS, socket: KONNECTIVITY_SOCKET, servers: 1 }), {
        readsKeysOnce: true,
      }),
      ...each((replica) => program('kube-controller-manager', controllerManagerArguments(agreed), { replica, afterReady: true })),
      ...each((replica) => program('kube-scheduler', schedulerArguments(agreed), { replica, afterReady: true })),
    ],
  };
  if (!isShared) return plan;
  const backends = Array.from({ length: replicas }, (_, replica) => replicaAddress(replica));
  return { ...plan, balancer: { listen: layout.endpointAddresses, port, backends } };
}

/** All have the same port, which is what they tell nodes; each has an address of its own that only this machine, or this namespace, knows. */
function replicaAddress(replica: number): string {
  return `127.0.0.${replica + 2}`;
}

function apiserverPlace({ listenAddress, advertisedAddress, port, replicas }: PlaneLayout, replica: number | undefined): ApiserverPlace {
  const isReachable = !advertisedAddress.startsWith('127.');
  return {
    keys: KEYS,
    etcdServers: storeMembers(replicas)
      .map(({ clientSocket }) => `unixs://${clientSocket}`)
      .join(','),
    listenAddress: replica === undefined ? listenAddress : replicaAddress(replica),
    port,
    advertisedAddress: isReachable ? advertisedAddress : undefined,
  };
}
