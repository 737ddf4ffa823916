import { PassThrough } from 'node:stream';
import type { LaunchedProcess, Launcher } from './launcher.ts';

/** An execution that ends before it began. */
export function notStarted(error: unknown): LaunchedProcess {
  const nothing = () => new PassThrough().end();
  const ended = Promise.reject(error);
  // Whoever launched it looks at it later.
  ended.catch(() => {});
  return { warm: false, stdout: nothing(), stderr: nothing(), ended, signal: () => {} };
}

/** Where there is no interpreter: every execution fails at once, and says so. */
export function withoutInterpreter(interpreter: string): Launcher {
  const error = Object.assign(new Error(`${interpreter} is not installed`), { code: 'ENOENT', path: interpreter });
  return { launch: () => notStarted(error), close() {} };
}
