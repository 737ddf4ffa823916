/** One of the API servers that share an endpoint. */
export interface Backend {
  address: string;
  /** It said so itself when it was asked last. */
  ready: boolean;
  connections: number;
}

/** Those to try for a connection, best first. Where none says that it is ready, any may be: reads can work when that does not. */
export function inOrder(backends: readonly Backend[]): Backend[] {
  return backends.toSorted((a, b) => Number(b.ready) - Number(a.ready) || a.connections - b.connections);
}

/** What the last questions to a replica have shown. */
export interface Answers {
  ready: boolean;
  /** When it last answered anything at all, or was started, on the monotonic clock. */
  answeredAt: number;
  /** It has not answered since it was started. */
  starting: boolean;
}

/** After that long without a word from one, while another answers, its connections are cut: their clients go to the other. */
export const SILENT_MS = 10_000;
/** After that long it is ended, and started again. */
export const HUNG_MS = 30_000;

/** One that starts on a busy machine may take as long as the first start of all. */
export const START_MS = 120_000;

export type Verdict = 'fine' | 'silent' | 'hung';

/** A machine without a moment for anybody ends nobody. */
export function verdictOf(one: Answers, others: readonly Answers[], now: number): Verdict {
  const silentMs = now - one.answeredAt;
  if (silentMs < SILENT_MS || !others.some(({ ready, answeredAt }) => ready && now - answeredAt < SILENT_MS / 2)) return 'fine';
  return silentMs < (one.starting ? START_MS : HUNG_MS) ? 'silent' : 'hung';
}
