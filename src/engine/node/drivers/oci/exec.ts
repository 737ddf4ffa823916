import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProgramStreams, Shim } from '../../shim/shim.ts';
import { ContainerError, type ExecSpec } from '../driver.ts';
import type { ContainerPlace } from './container-places.ts';
import type { ProcessConfig } from './model/runtime-config.ts';
import { execFailure, lastComplaint } from './model/runtime-failure.ts';
import { writtenPid } from './pid-file.ts';
import { runExec, type RuntimeState } from './runtime.ts';

export interface ExecSurroundings {
  shim: Shim;
  state: RuntimeState;
  place: ContainerPlace;
  /** Gives up on what takes too long. */
  inTime<T>(work: Promise<T>, giveUp: () => Promise<void>): Promise<T>;
}

/** Runs a command in a container, as the container's user and with its environment. Resolves when it runs. */
export async function execInContainer(around: ExecSurroundings, id: string, spec: ExecSpec): Promise<ProgramStreams> {
  const folder = await execFolder(around.place, spec, id);
  const [process, pidFile, log] = ['process.json', 'pid', 'runtime.log'].map((name) => join(folder, name));
  const clear = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const argv = runExec(around.state, { id, process, pidFile, log });
    const streams = await around.shim.run({ argv, env: {}, cwd: '/', terminal: spec.terminal, stdin: spec.stdin });
    const started = startedPid(pidFile, log, streams);
    const pid = await around.inTime(started, async () => streams.close());
    void streams.ended.then(clear, clear).catch(() => undefined);
    return killedOnClose(streams, pid);
  } catch (error) {
    await clear();
    throw error;
  }
}

async function startedPid(pidFile: string, log: string, streams: ProgramStreams): Promise<number> {
  const pid = await writtenPid(pidFile, streams.ended);
  if (pid !== undefined) return pid;
  throw execFailure(lastComplaint(await readFile(log, 'utf8').catch(() => '')) ?? 'the runtime does not say why');
}

async function execFolder(place: ContainerPlace, { command, terminal }: ExecSpec, id: string): Promise<string> {
  const container = await readFile(place.process, 'utf8').catch(() => {
    throw new ContainerError('CreateContainerError', `container not found ("${id}")`);
  });
  const { oomScoreAdj: _inherited, ...process } = JSON.parse(container) as ProcessConfig;
  const env = terminal && !process.env.some((variable) => variable.startsWith('TERM=')) ? [...process.env, 'TERM=xterm'] : process.env;
  const folder = await mkdtemp(join(place.folder, 'exec-'));
  await writeFile(join(folder, 'process.json'), JSON.stringify({ ...process, args: command, env, terminal }), { mode: 0o600 });
  return folder;
}

/** The shim kills the runtime's own process, which stands beside the command; the command has to go too. */
function killedOnClose(streams: ProgramStreams, pid: number): ProgramStreams {
  let over = false;
  const markOver = (): void => void (over = true);
  void streams.ended.then(markOver, markOver);
  return {
    ...streams,
    close() {
      if (!over) killQuietly(pid);
      streams.close();
    },
  };
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
