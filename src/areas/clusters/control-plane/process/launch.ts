import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { ProgramPlan } from '../kubernetes/model/program-plan.ts';
import { identityOf, type ProcessIdentity } from '../../../../lib/process-table.ts';

/** What a process says on the channel to whoever started it. */
export type LaunchMessage =
  | { type: 'ready' }
  | { type: 'restored'; encryptionKeys: string; objects: number }
  | { type: 'failed'; code?: string; message: string };

/** What whoever started it says once its keys are there. */
export interface GoMessage {
  /** Where to listen; absent for a restore. */
  address?: string;
  port?: number;
  productVersion?: string;
  /** Which authorities it is to trust: it reads them when it starts. */
  trust?: string;
  /** What it says of itself from then on: one that was told something else is replaced. */
  edition?: string;
  /** How large its store may become; absent: as large as it says itself. */
  storeBytes?: number;
  /** For one that looks after other programs. */
  programs?: ProgramPlan;
}

export interface LaunchOptions {
  program: string;
  args: readonly string[];
  /** Its working directory: the one place that it writes to. */
  folder: string;
  logPath: string;
  user?: number;
  /** A command that starts it, and gives it its user. */
  startedBy?: readonly string[];
  /** `pipe` for a restore. */
  stdin: 'ignore' | 'pipe';
}

export interface Launched {
  identity: ProcessIdentity;
  child: ChildProcess;
  /** Tells it to go on. */
  go(message?: GoMessage): void;
  /** What it says next. Rejects when it ends first. */
  next(timeoutMs: number): Promise<LaunchMessage>;
  /** From now on nothing ties it to us. */
  release(): void;
}

/** A small young generation: most of them sit and wait for most of their life. */
const NODE_FLAGS = ['--max-semi-space-size=4'];
const LOG_LIMIT_BYTES = 1024 * 1024;
/** What is left of our environment: theirs is not the place for our secrets. */
const ENVIRONMENT = ['PATH', 'TZ', 'LANG'];

/** Starts a process that outlives us once it was released. It waits for `go` first, and ends by itself when we die before. */
export async function launch({ program, args, folder, logPath, user, startedBy = [], stdin }: LaunchOptions): Promise<Launched> {
  if (((await stat(logPath).catch(() => undefined))?.size ?? 0) > LOG_LIMIT_BYTES) await truncate(logPath);
  const log = openSync(logPath, 'a', 0o600);
  const environment = Object.fromEntries(
    ENVIRONMENT.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  let child: ChildProcess;
  try {
    const [command, ...words] = [...startedBy, process.execPath, ...NODE_FLAGS, program, ...args];
    child = spawn(command, words, {
      cwd: folder,
      // A session of its own: signals for us are not for it, and the kernel shares the processors fairly between sessions.
      detached: true,
      stdio: [stdin, log, log, 'pipe'],
      env: { ...environment, UV_THREADPOOL_SIZE: '2' },
      ...(user === undefined || startedBy.length > 0 ? {} : { uid: user, gid: user }),
    });
  } finally {
    closeSync(log);
  }
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  const channel = child.stdio[3] as Socket;
  const messages = readMessages(channel);
  return {
    identity: identityOf(child.pid!),
    child,
    go: (message = {}) => void channel.write(`${JSON.stringify(message)}\n`),
    next: (timeoutMs) => orGone(messages, child, timeoutMs),
    release() {
      channel.destroy();
      child.unref();
    },
  };
}

async function orGone(messages: AsyncIterator<LaunchMessage>, child: ChildProcess, timeoutMs: number): Promise<LaunchMessage> {
  let patience: NodeJS.Timeout | undefined;
  const late = new Promise<LaunchMessage>((resolve) => {
    patience = setTimeout(() => resolve({ type: 'failed', message: `it said nothing for ${timeoutMs / 1000} seconds` }), timeoutMs);
  });
  try {
    const said = messages.next().then(({ done, value }) => (done === true ? gone(child) : value));
    return await Promise.race([said, late]);
  } finally {
    clearTimeout(patience);
  }
}

async function gone(child: ChildProcess): Promise<LaunchMessage> {
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => void child.once('exit', resolve));
  return { type: 'failed', message: `it ended with ${child.exitCode ?? child.signalCode}` };
}

async function* readMessages(channel: Socket): AsyncGenerator<LaunchMessage, void, void> {
  let text = '';
  try {
    for await (const chunk of channel) {
      text += String(chunk);
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        yield JSON.parse(text.slice(0, end)) as LaunchMessage;
        text = text.slice(end + 1);
      }
    }
  } catch {
    // Cut off: as if it had ended.
  }
}
