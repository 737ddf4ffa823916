import type { KernelIsolation } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { WorkerImage } from '../image/worker-image.ts';
import type { WantedMachine } from '../machines.ts';

/** One start of a machine. Paths below its folder are relative to it: it is the working directory, and the only place that its user may write to. */
export interface Boot {
  id: string;
  /** The OS user of its processes, which nobody else has. */
  user: number;
  folder: string;
  image: WorkerImage;
  /** Absent: nothing but a try whether a guest boots at all. */
  wanted?: WantedMachine;
}

export interface Command {
  program: string;
  args: readonly string[];
}

/** What is special about one way to run a machine on this host; the rest is the same for all. */
export interface Backend {
  readonly provider: string;
  readonly isolation: KernelIsolation;
  /** How it is connected: by a tap that it opens, or by being in a namespace. */
  readonly attachment: 'Tap' | 'Namespace';
  /** How long a guest may take to boot before it is taken for one that never will. */
  readonly probeMs: number;
  /** What is not there, and what to do about it; undefined: a guest may be tried. */
  missing(image: WorkerImage): Promise<string | undefined>;
  /** The programs whose other editions may behave otherwise. */
  programs(): Promise<string[]>;
  command(boot: Boot): Promise<Command>;
  /** Of the socket in its folder on which a guest talks; absent: it talks on its output. */
  readonly consoleSocket?: string;
  /** Before the command runs. */
  prepare?(boot: Boot): Promise<void>;
  /** Which process it is, when the command ends with the machine running. */
  pidFile?: string;
  /** Ends whatever the process leaves behind, or that there is without one. */
  clean?(place: { id: string; folder: string }): Promise<void>;
}

/** Names in a machine's folder. */
export const FILES = { disk: 'disk', settings: 'settings', output: 'output', console: 'console' } as const;

/** Processes and threads that one machine may have on the host at a time, where what runs in it is a process here. */
export const MOST_PROCESSES = 8192;

/** Where the settings are, as a folder, for machines that have no disks. */
export const SETTINGS_FOLDER = 'settings.d';
