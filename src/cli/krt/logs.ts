import { isTerminal, phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import { runOutput } from '../../sdk/output/follow-output.ts';
import { outputPorts } from '../../sdk/output/output-ports.ts';
import { attempting } from '../terminal/explain.ts';
import { readRun } from './get.ts';
import { untilInterrupted, type Session } from '../terminal/session.ts';

export interface LogsFlags {
  follow?: boolean;
  tail?: string;
}

/** What a Run wrote, each stream to its own descriptor. With `-f` until the Run has ended. */
export async function logs(session: Session, name: string, flags: LogsFlags): Promise<number> {
  const tail = tailOf(flags.tail);
  const run = await readRun(session, name);
  const hasStarted = isTerminal(phaseOf(run)) || phaseOf(run) === 'Running';
  if (!flags.follow && !hasStarted) {
    session.err(`Run ${name} is ${phaseOf(run)} and has written nothing yet; -f waits for it\n`);
    return 0;
  }
  const where = { server: session.cluster.server, namespace: session.namespace };
  await untilInterrupted(session, (signal) =>
    attempting(`read the output of Run "${name}"`, where, async () => {
      const onTruncated = () => session.err('(only the end of the output was kept)\n');
      const options = { follow: flags.follow === true, tail, signal, onTruncated };
      for await (const { stream, text } of runOutput(run, outputPorts(session.cluster, session.namespace), options)) {
        (stream === 'stderr' ? session.err : session.out)(text);
      }
    }),
  );
  return 0;
}

function tailOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '-1') return undefined;
  if (!/^\d+$/.test(text)) throw new Error(`Cannot show the last "${text}" lines: write a whole number, or leave it out for all`);
  return Number(text);
}
