import type { Cluster } from '../../sdk/cluster.ts';
import type { Clock } from '../../lib/clock.ts';

/** What a command has of the terminal and the cluster it was typed for. */
export interface Session {
  /** Standard output, and what is said besides it. */
  out(text: string): void;
  err(text: string): void;
  /** Whether a person looks at standard output; then it may be redrawn and coloured. */
  isTerminal: boolean;
  errIsTerminal: boolean;
  isColoured: boolean;
  size(): { columns: number; rows: number };
  /** A file; standard input for `-`. */
  read(file: string): Promise<string>;
  /** What somebody types, up to the end of the line. */
  line(): Promise<string>;
  env: Record<string, string | undefined>;
  clock: Clock;
  /** Calls back at every Ctrl-C until it is taken back, instead of ending the process. */
  onInterrupt(listener: () => void): () => void;
  cluster: Cluster;
  /** Where to act when no object says it: `-n`, or the kubeconfig's. */
  namespace: string;
}

export const FIELD_MANAGER = 'krt';

/** A signal that fires with the first Ctrl-C, for commands that go on until somebody has seen enough. */
export async function untilInterrupted<T>(session: Session, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const controller = new AbortController();
  const forget = session.onInterrupt(() => controller.abort());
  try {
    return await work(controller.signal);
  } catch (error) {
    if (controller.signal.aborted) return undefined;
    throw error;
  } finally {
    forget();
  }
}
