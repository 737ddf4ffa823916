import { isTerminal, phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run, RunPhase } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { parseGoDuration } from '../../kube/go-duration.ts';
import { timeoutSignal } from '../../lib/abort.ts';
import { exitCodeOf } from '../../sdk/exit-code.ts';
import { runUpdates } from '../../sdk/run-updates.ts';
import { attempting } from '../terminal/explain.ts';
import { phaseNamed } from './find-runs.ts';
import type { Session } from '../terminal/session.ts';

export interface WaitFlags {
  for?: string;
  timeout?: string;
}

export type Awaited = { kind: 'end' } | { kind: 'deletion' } | { kind: 'phase'; phase: RunPhase };

/** The value of `--for`. */
export function awaited(text: string | undefined): Awaited {
  if (text === undefined || text === 'end') return { kind: 'end' };
  if (text === 'delete') return { kind: 'deletion' };
  const phase = phaseNamed(/^phase=(.+)$/i.exec(text)?.[1]);
  if (phase === undefined) throw new Error(`Cannot wait for "${text}": write end, delete or phase=<phase>, such as phase=Running`);
  return { kind: 'phase', phase };
}

/** @returns with no `--for` the exit code of the first Run that did not succeed; otherwise 0 */
export async function wait(session: Session, names: string[], flags: WaitFlags): Promise<number> {
  const wanted = awaited(flags.for);
  const limit = limitOf(flags.timeout);
  const timeout = limit === undefined ? undefined : timeoutSignal(session.clock, limit);
  try {
    const codes = await Promise.all(names.map((name) => waitFor(session, name, wanted, timeout?.signal, flags.timeout)));
    return codes.find((code) => code !== 0) ?? 0;
  } finally {
    timeout?.dispose();
  }
}

async function waitFor(session: Session, name: string, wanted: Awaited, signal: AbortSignal | undefined, limit: string | undefined) {
  const where = { server: session.cluster.server, namespace: session.namespace };
  return attempting(`wait for Run "${name}"`, where, async () => {
    let last: Run | undefined;
    const options = { signal, untilDeleted: wanted.kind === 'deletion' };
    for await (const run of runUpdates(session.cluster.client, { namespace: session.namespace, name }, options)) {
      last = run;
      const verdict = judge(name, run, wanted);
      if (verdict === undefined) continue;
      session.out(`${verdict.text}\n`);
      return verdict.code;
    }
    if (signal?.aborted) {
      throw new Error(`Cannot wait any longer for Run "${name}": it is ${phaseOf(last!)} after ${limit}; give it more with --timeout`);
    }
    throw new Error(`Cannot wait for Run "${name}": it has ended as ${phaseOf(last!)}`);
  });
}

/** What to say when the waiting is over; undefined while it is not. @throws Error when it can no longer be as wanted */
function judge(name: string, run: Run | undefined, wanted: Awaited): { text: string; code: number } | undefined {
  if (run === undefined) {
    if (wanted.kind === 'deletion') return { text: `Run ${name} is deleted`, code: 0 };
    throw new Error(`Cannot wait for Run "${name}" any longer: it was deleted`);
  }
  const phase = phaseOf(run);
  const text = `Run ${name} is ${phase}`;
  if (wanted.kind === 'end') return isTerminal(phase) ? { text, code: exitCodeOf(run) } : undefined;
  if (wanted.kind === 'deletion') return undefined;
  if (phase === wanted.phase) return { text, code: 0 };
  if (isTerminal(phase)) throw new Error(`Cannot wait for Run "${name}" to be ${wanted.phase}: it has ended as ${phase}`);
  return undefined;
}

function limitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d+$/.test(text) ? Number(text) * 1000 : parseGoDuration(text);
  if (limit === undefined) throw new Error(`Cannot wait "${text}": write a duration such as 30s or 5m`);
  return limit;
}
