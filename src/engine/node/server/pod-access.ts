import type { Duplex, Readable } from 'node:stream';
import type { ProgramStreams } from '../shim/shim.ts';

/** What the node's server (logs, exec, attach, port-forward) needs of the agent. All reject with a Kubernetes Status error. */
export interface PodAccess {
  /** The Pod as the node knows it; a NotFound when it does not run here. */
  logs(target: ContainerTarget, options: LogOptions, signal: AbortSignal): Promise<Readable>;
  exec(target: ContainerTarget, command: { command: string[]; terminal: boolean; stdin: boolean }): Promise<ProgramStreams>;
  /** The streams of the container's own program, with what it needs to know about them. */
  attach(target: ContainerTarget): Promise<{ streams: ProgramStreams; terminal: boolean; stdin: boolean }>;
  dial(target: PodTarget, port: number): Promise<Duplex>;
  /** CPU and memory of the node and of every container, for the metrics API. */
  usage(): Promise<NodeUsage>;
  /** The Pods that this node runs, as it would report them. */
  pods(): Promise<unknown[]>;
}

export interface PodTarget {
  namespace: string;
  name: string;
  uid?: string;
}

export interface ContainerTarget extends PodTarget {
  container: string;
}

/** The options of `pods/log`, already parsed and checked by the API server. */
export interface LogOptions {
  follow: boolean;
  previous: boolean;
  timestamps: boolean;
  tailLines?: number;
  sinceSeconds?: number;
  sinceTime?: string;
  limitBytes?: number;
  stream: 'All' | 'Stdout' | 'Stderr';
}

export interface NodeUsage {
  node: UsageSample;
  pods: { namespace: string; name: string; uid?: string; containers: (UsageSample & { name: string })[] }[];
}

export interface UsageSample {
  /** When the CPU rate was measured until, and over how long. */
  at: Date;
  windowSeconds: number;
  cpuNanocores: number;
  /** All CPU time since `startedAt`; collectors that work out rates of their own need it. */
  cpuNanoseconds?: number;
  memoryBytes: number;
  startedAt?: Date;
}
