import type { Image } from '../images/images.ts';
import type { PodReference } from '../pod-reference.ts';
import type { ProgramEnd, ProgramStreams } from '../shim/shim.ts';

/**
 * One way to run containers. A driver knows nothing of the Kubernetes API: it gets what a container is made from, fully resolved.
 * All of it can be called again after a crash: what exists already is taken as it is.
 */
export interface Driver {
  readonly name: 'process' | 'oci';
  /** What this driver does not isolate on this machine; empty when a container is fully contained. Shown on the Pod and the Node. */
  readonly missingIsolation: readonly string[];
  /** Absent where Pods have no cgroups. */
  readonly processors?: PodProcessors;
  /** Undefined when this driver can run the image that the Pod names so, else why not: nothing is pulled in vain. */
  cannotRun(reference: string): string | undefined;
  /** Makes what the containers of a Pod share: its cgroup. */
  prepareSandbox(sandbox: SandboxSpec): Promise<void>;
  /** Resolves when the container runs. Rejects with a ContainerError; then nothing is left of it. */
  start(container: ContainerSpec): Promise<{ startedAt: Date }>;
  /** Everything of this driver that was started and not removed, the ended included, whoever started it. */
  list(): Promise<DriverContainer[]>;
  ended(id: string): Promise<ContainerEnd>;
  /** To the main process of the container; SIGKILL ends all of its processes. */
  signal(id: string, signal: NodeJS.Signals): Promise<void>;
  exec(id: string, command: ExecSpec): Promise<ProgramStreams>;
  attach(id: string): Promise<ProgramStreams>;
  stats(id: string): Promise<ContainerStats | undefined>;
  /** Undoes everything that `start` made (mounts, folders, the shim's record), after the end. Logs stay: they belong to the agent. */
  remove(id: string): Promise<void>;
  /** Undoes `prepareSandbox`. */
  removeSandbox(podUid: string): Promise<void>;
  /** Removes what belongs to Pods that are gone: cgroups, mounts, processes. Called once at the start of the agent. */
  cleanUp(livePodUids: ReadonlySet<string>): Promise<void>;
}

export interface SandboxSpec {
  pod: PodReference;
  /** Sums over the containers; what a Pod-level limit would be. */
  limits: ResourceLimits;
}

/** Turns of Pods at the processors. All of it is quick, and done at once: many are asked for in a row. */
export interface PodProcessors {
  /** Nanoseconds that the containers of a Pod have used together; undefined when it is not there. */
  used(podUid: string): number | undefined;
  /** While a Pod gives way, other Pods get a processor at once when they want one. @returns false where the kernel cannot do that */
  giveWay(sandbox: SandboxSpec, gives: boolean): boolean;
}

export interface ContainerSpec {
  /** `<pod uid>.<container>.<attempt>`: unique for ever, safe as a file name. */
  id: string;
  pod: PodReference;
  name: string;
  attempt: number;
  image: Image;
  /** From the Pod, variables already expanded; absent: the image's. */
  command?: string[];
  args?: string[];
  /** The image's own are added below these by the driver. */
  env: Record<string, string>;
  workingDir?: string;
  hostname: string;
  user: { uid?: number; gid?: number; groups: number[]; mustNotBeRoot: boolean };
  mounts: Mount[];
  limits: ResourceLimits;
  security: SecuritySpec;
  terminal: boolean;
  stdin: boolean;
  stdinOnce: boolean;
  /** Path of the Pod's network namespace; absent: the machine's network. */
  networkNamespace?: string;
  logPath: string;
}

export interface Mount {
  /** On the machine; a file or a folder that exists. */
  source: string;
  /** In the container, absolute. */
  target: string;
  readOnly: boolean;
  /** Private when absent. */
  propagation?: 'HostToContainer' | 'Bidirectional';
}

export interface ResourceLimits {
  /** From requests; the weight under contention. */
  cpuShares?: number;
  /** In thousandths of a core. */
  cpuMillis?: number;
  memoryBytes?: number;
  pids: number;
}

export interface SecuritySpec {
  privileged: boolean;
  readOnlyRoot: boolean;
  allowPrivilegeEscalation: boolean;
  addCapabilities: string[];
  dropCapabilities: string[];
  seccomp: { type: 'RuntimeDefault' | 'Unconfined' } | { type: 'Localhost'; profile: string };
  hostPid: boolean;
  hostIpc: boolean;
}

export interface ExecSpec {
  command: string[];
  terminal: boolean;
  stdin: boolean;
}

export interface DriverContainer {
  id: string;
  pod: PodReference;
  name: string;
  attempt: number;
  startedAt: Date;
  end?: ContainerEnd;
}

export interface ContainerEnd extends ProgramEnd {
  oomKilled: boolean;
}

export interface ContainerStats {
  /** Since the start of the container. */
  cpuNanoseconds: number;
  /** What `kubectl top` calls memory: the working set. */
  memoryBytes: number;
  at: Date;
}

/** Reasons as Kubernetes shows them: in `waiting` for the first two, in `terminated` for the others. */
export type ContainerErrorReason =
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError'
  | 'StartError'
  | 'ContainerCannotRun';

export class ContainerError extends Error {
  readonly reason: ContainerErrorReason;
  /** Of a container that could not be run, whatever the cause, as containerd has it. */
  readonly exitCode = 128;

  constructor(reason: ContainerErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
