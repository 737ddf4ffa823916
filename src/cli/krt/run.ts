import { RunKind, type Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../api/kruntimes.io/v1alpha1/runtime.ts';
import { isTerminal, phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import { isStatusError } from '../../kube/status.ts';
import { exitCodeOf } from '../../sdk/exit-code.ts';
import { runOutput } from '../../sdk/output/follow-output.ts';
import { outputPorts } from '../../sdk/output/output-ports.ts';
import { RunGoneError, waitForEnd } from '../../sdk/run-updates.ts';
import { createRun, requestCancel } from '../../sdk/runs.ts';
import { attempting } from '../terminal/explain.ts';
import { isForPeople, outputFormat, printObjects, type OutputFormat } from '../terminal/print.ts';
import { runRequest, type RunFlags } from './run-request.ts';
import { FIELD_MANAGER, type Session } from '../terminal/session.ts';

export interface RunCommandFlags extends RunFlags {
  wait?: boolean;
  follow?: boolean;
  output?: string;
}

/** @returns what to exit with: the Run's own code when it was waited for */
export async function run(session: Session, args: string[], flags: RunCommandFlags): Promise<number> {
  const format = outputFormat(flags.output);
  const request = await runRequest(args, flags, session);
  const cluster = { ...session.cluster, namespace: session.namespace };
  const where = { server: session.cluster.server, namespace: session.namespace };
  const [created, hasRuntime] = await Promise.all([
    attempting(request.name === undefined ? 'create a Run' : `create Run "${request.name}"`, where, () =>
      createRun(cluster, request, { fieldManager: FIELD_MANAGER }),
    ),
    isRuntimeThere(session, request.runtime!),
  ]);
  if (!hasRuntime) {
    session.err(
      `There is no Runtime "${request.runtime}" in namespace "${session.namespace}": the Run waits until there is; see \`krt runtime list -A\`\n`,
    );
  }
  if (!flags.wait && !flags.follow) {
    if (isForPeople(format)) session.out(`Run ${created.metadata.name} created\n`);
    else await printObjects(session, format, RunKind, created);
    return 0;
  }
  // Whoever follows wants on standard output what the Run writes, and nothing else.
  if (isForPeople(format)) (flags.follow ? session.err : session.out)(`Run ${created.metadata.name} created\n`);
  return stayWith(session, created, { follow: flags.follow === true && isForPeople(format), format });
}

/** Waits for the end of a Run. Ctrl-C cancels the Run; a second one leaves it alone. */
async function stayWith(session: Session, created: Run, options: { follow: boolean; format: OutputFormat }): Promise<number> {
  const { namespace, name } = { namespace: created.metadata.namespace!, name: created.metadata.name! };
  const leave = new AbortController();
  let interrupts = 0;
  const forget = session.onInterrupt(() => {
    if (++interrupts > 1) return leave.abort();
    session.err(`\nCancelling Run ${name}; Ctrl-C again leaves it to itself\n`);
    requestCancel(session.cluster, namespace, name, FIELD_MANAGER).catch((error: Error) => {
      session.err(`krt: Cannot cancel Run "${name}": ${error.message}; it goes on\n`);
      leave.abort();
    });
  });
  try {
    const ended = await (options.follow ? followToEnd : waitToEnd)(session, created, leave.signal);
    if (isForPeople(options.format)) sayEnd(session, ended, options.follow);
    else await printObjects(session, options.format, RunKind, ended);
    return exitCodeOf(ended);
  } catch (error) {
    if (leave.signal.aborted) return 130;
    throw error;
  } finally {
    forget();
  }
}

function waitToEnd(session: Session, created: Run, signal: AbortSignal): Promise<Run> {
  const name = { namespace: created.metadata.namespace!, name: created.metadata.name! };
  return waitForEnd(session.cluster.client, name, { known: created, signal, onUpdate: tellWhyItWaits(session) });
}

async function followToEnd(session: Session, created: Run, signal: AbortSignal): Promise<Run> {
  const name = { namespace: created.metadata.namespace!, name: created.metadata.name! };
  const tell = tellWhyItWaits(session);
  let last: Run = created;
  const onUpdate = (run: Run): void => {
    last = run;
    tell(run);
  };
  const onTruncated = () => session.err('(only the end of the output was kept)\n');
  const options = { follow: true, signal, onUpdate, onTruncated };
  for await (const { stream, text } of runOutput(created, outputPorts(session.cluster, name.namespace), options)) {
    (stream === 'stderr' ? session.err : session.out)(text);
  }
  signal.throwIfAborted();
  if (!isTerminal(phaseOf(last))) throw new RunGoneError(name);
  return last;
}

/** A Run that waits says why; each reason is told once. */
function tellWhyItWaits(session: Session): (run: Run) => void {
  let told = '';
  return (run) => {
    const message = phaseOf(run) === 'Pending' ? (run.status?.message ?? '') : '';
    if (message === '' || message === told) return;
    told = message;
    session.err(`Run ${run.metadata.name} is Pending: ${message}\n`);
  };
}

const ENDINGS: Record<string, string> = { Failed: 'failed', Timeout: 'timed out', Cancelled: 'was cancelled' };

function sayEnd(session: Session, ended: Run, isFollowed: boolean): void {
  const { name } = ended.metadata;
  const phase = phaseOf(ended);
  const message = ended.status?.message ? `: ${ended.status.message}` : '';
  if (phase !== 'Succeeded') session.err(`krt: Run ${name} ${ENDINGS[phase]}${message}\n`);
  else if (!isFollowed) session.out(`Run ${name} succeeded${message}\n`);
}

async function isRuntimeThere(session: Session, runtime: string): Promise<boolean> {
  try {
    await session.cluster.client.resource(RuntimeKind, session.namespace).get(runtime);
    return true;
  } catch (error) {
    // Whatever else is wrong, the Run itself will say.
    return !isStatusError(error, 'NotFound');
  }
}
