import { constants } from 'node:os';
import type { ExitStatus } from '../system/system-calls.ts';

const NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]));

/** The exit code as a shell and Kubernetes count it. */
export function exitCodeOf({ code, signal }: ExitStatus): { exitCode: number; signal?: NodeJS.Signals } {
  if (signal === null) return { exitCode: code ?? 0 };
  return { exitCode: 128 + signal, signal: NAMES.get(signal) };
}
