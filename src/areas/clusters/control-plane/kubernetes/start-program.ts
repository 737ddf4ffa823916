import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync, statfsSync, statSync, truncateSync } from 'node:fs';
import type { Clock } from '../../../../lib/clock.ts';
import { titleOf, type ProgramSpec } from './model/program-plan.ts';
import type { RunningProgram } from './program-keeper.ts';

const LOG_LIMIT_BYTES = 8 * 1024 * 1024;
const LOG_CHECK_MS = 600_000;
const WORDS_BYTES = 4000;
const NO_SPACE = '\nno space left on device';
/** Less than what a log or a store grows by at a time. */
const SPACE_BYTES = 64 * 1024;

/** Starts a program in this folder, which ends with us however we end. What it says is in `<name>.log`. */
export function startProgram(spec: ProgramSpec, withParent: readonly string[]): RunningProgram {
  const { path, args } = spec;
  const logPath = logOf(titleOf(spec));
  cutLog(logPath);
  const log = openSync(logPath, 'a', 0o600);
  try {
    const [command, ...words] = [...withParent, path, ...args];
    const child = spawn(command, words, { stdio: ['ignore', log, log] });
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`Cannot run "${command}": ${error.message}`));
      child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code}\n${lastWords(logPath)}${isFull() ? NO_SPACE : ''}`));
    });
    return { ended, signal: (signal) => void child.kill(signal) };
  } finally {
    closeSync(log);
  }
}

/** Programs append to their logs for as long as they run, and nobody tells how much it was. */
export function keepLogsShort(names: readonly string[], clock: Clock): void {
  clock.setTimer(LOG_CHECK_MS, () => {
    for (const name of names) cutLog(logOf(name));
    keepLogsShort(names, clock);
  });
}

/** A program whose disk is full cannot write that down either. */
function isFull(): boolean {
  const { bavail, bsize } = statfsSync('.');
  return bavail * bsize < SPACE_BYTES;
}

function logOf(name: string): string {
  return `${name}.log`;
}

function cutLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) truncateSync(path);
}

function lastWords(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const words = Buffer.alloc(Math.min(size, WORDS_BYTES));
    readSync(file, words, 0, words.length, size - words.length);
    return words.toString('utf8').trim();
  } finally {
    closeSync(file);
  }
}
