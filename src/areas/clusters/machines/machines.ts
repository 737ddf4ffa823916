import type { KernelIsolation } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { Attachment } from '../network/model/vpc.ts';
import type { Device } from '../network/networks.ts';

/** What a worker is to be. Complete: a provider needs nothing else, and keeps nothing but what is in its folder. */
export interface WantedMachine {
  /** Unlike any other, also of machines that are gone. */
  id: string;
  /** The uid of its TenantCluster. */
  cluster: string;
  /** Of its Node. */
  name: string;
  cpus: number;
  memoryBytes: number;
  /** Of the disk that is its own, wiped before anybody else gets the space. */
  diskBytes: number;
  network: {
    device: Device;
    mac: string;
    /** With the length of its prefix: 10.0.1.12/24. */
    address: string;
    gateway: string;
    /** Servers of names, on the platform's side. */
    dns: readonly string[];
  };
  /** How it finds and joins its cluster. The token is short-lived, and only needed until the worker has a certificate. */
  join: { server: string; authorityPem: string; token: string; tunnel?: { address: string; port: number } };
  /** Flags of its node agent beyond these: the Service range, the image mirror. */
  settings: Readonly<Record<string, string>>;
}

export interface RunningMachine {
  /** Since when, in milliseconds. */
  started: number;
}

/**
 * Who makes workers: programs that run a kernel, or a sandbox, of their own. All verbs can be repeated, also after a crash in the middle of one, and cost
 * next to nothing when there is nothing to do.
 */
export interface Machines {
  readonly provider: string;
  readonly isolation: KernelIsolation;
  /** Why none can be had here, in words for the operator; undefined: a guest was seen to boot. Asked once, and not before a worker is wanted. */
  unable(): Promise<string | undefined>;
  /**
   * Where the port of a machine in the network has to end: a tap that its user may open, or a namespace that is the machine's. Asked before the network
   * makes the port; the same answer for as long as there is anything of the machine, which from now on there is: `remove` takes it back.
   */
  place(id: string, cluster: string): Promise<Attachment>;
  /** Makes it, or starts it again when it has ended. @throws MachineError */
  run(wanted: WantedMachine): Promise<RunningMachine>;
  /** Ends it and keeps its disk. */
  stop(id: string): Promise<void>;
  /** Leaves nothing of it. */
  remove(id: string): Promise<void>;
  /** All that there is anything of: those that nobody wants any more are removed by who asks. */
  list(): Promise<{ id: string; cluster: string; isRunning: boolean }[]>;
  /** The last lines of its console, for the event that tells why it ended. */
  console(id: string): Promise<string>;
  /** Tells the id of a machine that ended. */
  onEnd(listener: (id: string) => void): () => void;
  /** Lets go of everything; machines run on. */
  close(): Promise<void>;
}

/** Something expected is in the way; a condition says it. */
export class MachineError extends Error {
  /** When to try again; undefined: when something changes. */
  readonly afterMs: number | undefined;

  constructor(message: string, options: { afterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'MachineError';
    this.afterMs = options.afterMs;
  }
}
