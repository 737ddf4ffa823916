import { realClock, type Clock } from '../../../lib/clock.ts';
import type { Child } from './children/child.ts';
import { startChild } from './children/start-child.ts';
import type { Language } from './language.ts';
import type { Launch, LaunchedProcess, Launcher } from './launcher.ts';
import { WarmPool } from './warm-pool.ts';
import { WARM_STARTS } from './warm-start.ts';

export interface SharedLauncherOptions {
  language: Language;
  /** What every execution finds in its environment; its own variables come on top. */
  baseEnv: Record<string, string>;
  /** Interpreters kept waiting. */
  warmWorkers: number;
  /** Puts a command line into a sandbox; absent: there is none. */
  wrap?: (argv: string[], launch: Launch | undefined) => string[];
  clock?: Clock;
}

/** Output of what the main process left behind is waited for no longer than this. */
const LEFTOVER_MS = 200;

/** Every execution is a child process of its own, in a process group of its own; nothing else is between them. */
export function createSharedLauncher({ language, baseEnv, warmWorkers, wrap, clock = realClock }: SharedLauncherOptions): Launcher {
  const warmStart = WARM_STARTS[language.name];
  const start = () => {
    const worker = startChild(wrap ? wrap(warmStart.argv, undefined) : warmStart.argv, { cwd: '/', env: baseEnv, listens: true });
    worker.once('error', () => pool.remove(worker));
    worker.once('exit', () => pool.remove(worker));
    return worker;
  };
  const pool = new WarmPool<Child>({ wanted: warmWorkers, start, clock });
  pool.fill();

  return {
    launch(launch) {
      const message = warmWorkers > 0 ? warmStart.message(launch.program, launch.workingDir, launch.env) : undefined;
      const worker = message === undefined ? undefined : pool.take();
      if (worker !== undefined) {
        worker.tell(message!);
        return launched(worker, true);
      }
      const argv = language.commandLine(launch.program);
      const env = { ...baseEnv, ...launch.env };
      return launched(startChild(wrap ? wrap(argv, launch) : argv, { cwd: launch.workingDir, env, listens: false }), false);
    },
    close() {
      for (const worker of pool.close()) worker.killGroup('SIGKILL');
    },
  };
}

function launched(child: Child, warm: boolean): LaunchedProcess {
  const { stdout, stderr } = child;
  const ended = new Promise<{ exitCode: number; signal?: NodeJS.Signals }>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      // What the program left running in its group goes with it.
      child.killGroup('SIGKILL');
      const cut = () => {
        // Somebody is still reading what it wrote.
        if (stdout.isPaused() || stderr.isPaused()) return void (timer = setTimeout(cut, LEFTOVER_MS));
        stdout.destroy();
        stderr.destroy();
      };
      let timer = setTimeout(cut, LEFTOVER_MS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve({ exitCode: code ?? -1, ...(signal === null ? {} : { signal }) });
      });
    });
  });
  return { warm, stdout, stderr, ended, signal: (signal) => child.killGroup(signal) };
}
