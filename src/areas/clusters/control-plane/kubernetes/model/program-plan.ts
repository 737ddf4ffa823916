/** One of the programs of a control plane. */
export interface ProgramSpec {
  name: ProgramName;
  /** Which of several that do the same: the others go on without it. */
  replica?: number;
  path: string;
  args: readonly string[];
  /** Started once the API server answers: before it has nothing to do but to take its processor. */
  afterReady: boolean;
  /** A socket that must be there before: who asks too early waits a second before the next try. */
  afterSocket?: string;
  /** It reads its certificates only when it starts. */
  readsKeysOnce: boolean;
}

export const PROGRAM_NAMES = ['etcd', 'kube-apiserver', 'konnectivity-server', 'kube-controller-manager', 'kube-scheduler'] as const;
export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** What is told to the process that looks after the programs of a control plane. */
export interface ProgramPlan {
  /** In the order in which they start; they are stopped in the other one. */
  programs: readonly ProgramSpec[];
  /** Where the API server is, seen from the programs. */
  server: { address: string; port: number };
  /** Ends a program with whoever started it. */
  withParent: readonly string[];
  /** Of an endpoint that is shared by several API servers: where it is, and where they are. */
  balancer?: { listen: readonly string[]; port: number; backends: readonly string[] };
  store: StorePlan;
}

export interface StorePlan {
  members: number;
  etcd: string;
  etcdutl: string;
}

/** How a program is called in logs and messages. */
export function titleOf({ name, replica }: Pick<ProgramSpec, 'name' | 'replica'>): string {
  return replica === undefined ? name : `${name}-${replica}`;
}
