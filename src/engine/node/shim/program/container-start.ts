import { closeSync, readFileSync, rmSync } from 'node:fs';
import type { Clock } from '../../../../lib/clock.ts';
import { ShimError, type ShimProgram } from '../shim.ts';
import type { SystemCalls } from '../system/system-calls.ts';
import { exitCodeOf } from './exit-code.ts';
import { launch, type LaunchTools, type Launched } from './launch.ts';
import { Outputs } from './outputs.ts';
import type { RunningMain } from './program.ts';
import { killSession } from './session.ts';
import { terminalEnds } from './stdio.ts';

/** Runs an OCI runtime to its end and takes over the container that it leaves behind. */
export async function launchContainer(spec: ShimProgram, tools: LaunchTools & { clock: Clock }): Promise<RunningMain> {
  const { calls, reaper } = tools;
  if (calls === undefined || reaper === undefined) {
    throw new ShimError('StartFailed', `Cannot adopt the process of "${spec.id}": this platform does not hand orphans to the shim`);
  }
  const console = spec.terminal && spec.consoleSocket !== undefined ? listen(calls, spec.consoleSocket) : undefined;
  const expectation = reaper.expectOrphan();
  try {
    const launched = await launch({ ...spec, terminal: spec.terminal && console === undefined }, tools);
    const status = await launched.exited;
    if (status.code !== 0) throw await failedStart(spec, launched, tools.clock);
    const pid = readPid(spec.pidFile!);
    const exited = reaper.adopt(pid);
    const master = console === undefined ? undefined : calls.receiveTerminal(console);
    if (console !== undefined && master === undefined) {
      process.kill(pid, 'SIGKILL');
      throw new ShimError('StartFailed', `Cannot start "${spec.id}": ${spec.argv[0]} sent no terminal to ${spec.consoleSocket}`);
    }
    if (master === undefined) return { pid, ownSession: false, ends: launched.ends, exited };
    launched.ends.stdout.destroy();
    launched.ends.stderr?.destroy();
    launched.ends.stdin?.destroy();
    return { pid, ownSession: false, ends: terminalEnds(calls, master, spec.stdin), exited };
  } finally {
    expectation.release();
    if (console !== undefined) closeSync(console);
    if (spec.consoleSocket !== undefined) rmSync(spec.consoleSocket, { force: true });
  }
}

/** Resolves when the program has said that it runs; rejects when it ended instead. */
export async function awaitReady(spec: ShimProgram, launched: Launched, clock: Clock): Promise<void> {
  const ready = launched.ready!;
  const said = await new Promise<boolean>((resolve) => {
    ready.once('data', () => resolve(true));
    ready.once('end', () => resolve(false));
    ready.once('error', () => resolve(false));
  });
  ready.destroy();
  if (said) return;
  throw await failedStart(spec, launched, clock);
}

async function failedStart(spec: ShimProgram, launched: Launched, clock: Clock): Promise<ShimError> {
  const { exitCode } = exitCodeOf(await launched.exited);
  await killSession(launched.pid);
  launched.ends.stdin?.destroy();
  const report = await new Outputs(launched.ends).report(clock);
  return new ShimError('StartFailed', report === '' ? `${spec.argv[0]} ended with exit code ${exitCode} and said nothing` : report);
}

function listen(calls: SystemCalls, path: string): number {
  rmSync(path, { force: true });
  try {
    return calls.listenForTerminal(path);
  } catch (error) {
    throw new ShimError('StartFailed', (error as Error).message, { cause: error });
  }
}

function readPid(path: string): number {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // Told below.
  }
  const pid = Number.parseInt(text, 10);
  if (pid > 1) return pid;
  throw new ShimError('StartFailed', `Cannot adopt a container: there is no process id in ${path}`);
}
