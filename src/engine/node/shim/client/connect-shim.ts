import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { builtProgram } from '../../../../lib/built-program.ts';
import { realClock, type Clock } from '../../../../lib/clock.ts';
import { prepareShimFolder, shimLogPath, socketPath } from '../shim-paths.ts';
import { ShimError, type ProgramEnd, type ProgramStreams, type Shim, type ShimProgramState, type StartedProgram } from '../shim.ts';
import { readEnd, readState, type ShimCall, type ShimCalls } from '../wire/messages.ts';
import { ShimLink } from './shim-link.ts';

export interface ConnectShimOptions {
  /** The node's folder, `<data>/node`. */
  dir: string;
  /** The built program of the shim; absent: the one that was built together with this code. */
  program?: string;
  clock?: Clock;
}

/** A heap for the records of some thousand programs; more would only be garbage that waits to be collected. */
const SHIM_FLAGS = ['--max-old-space-size=96', '--max-semi-space-size=1'];
const START_PATIENCE_MS = 10_000;
const RETRY_MS = 20;

/** Finds the shim of the folder, or starts it. Two who start it at the same time end up with one. */
export async function connectShim(options: ConnectShimOptions): Promise<Shim> {
  const client = new ShimClient(options);
  await client.connect();
  return client;
}

class ShimClient implements Shim {
  readonly #options: ConnectShimOptions;
  #link: Promise<ShimLink> | undefined;
  #current: ShimLink | undefined;
  #closed = false;

  constructor(options: ConnectShimOptions) {
    this.#options = options;
  }

  /** The shim can be killed at any time; whoever calls next gets another. */
  async connect(): Promise<ShimLink> {
    if (this.#closed) throw new ShimError('Disconnected', 'Cannot call the shim: this client was closed');
    if (this.#current?.isBroken) {
      this.#current = undefined;
      this.#link = undefined;
    }
    this.#link ??= findOrStart(this.#options).then(
      (socket) => (this.#current = new ShimLink(socket)),
      (error: unknown) => {
        this.#link = undefined;
        throw error;
      },
    );
    return this.#link;
  }

  async start(program: ShimCalls['start']['parameters']): Promise<StartedProgram> {
    const { pid, startedAt } = await this.#call('start', program);
    return { pid, startedAt: new Date(startedAt) };
  }

  async list(): Promise<ShimProgramState[]> {
    return (await this.#call('list', {})).map(readState);
  }

  async ended(id: string): Promise<ProgramEnd> {
    return readEnd(await this.#call('ended', { id }));
  }

  async signal(id: string, signal: NodeJS.Signals, options: { group?: boolean } = {}): Promise<void> {
    await this.#call('signal', { id, signal, group: options.group ?? false });
  }

  async attach(id: string): Promise<ProgramStreams> {
    return (await this.connect()).open('attach', { id });
  }

  async run(program: ShimCalls['run']['parameters']): Promise<ProgramStreams> {
    return (await this.connect()).open('run', program);
  }

  async reopenLog(id: string): Promise<void> {
    await this.#call('reopenLog', { id });
  }

  async forget(id: string): Promise<void> {
    await this.#call('forget', { id });
  }

  close(options: { endIfIdle?: boolean } = {}): void {
    if (this.#closed) return;
    this.#closed = true;
    const link = this.#current;
    if (link === undefined) return;
    if (options.endIfIdle && !link.isBroken) link.call('endIfIdle', {}).catch(() => undefined);
    link.close();
  }

  async #call<Name extends ShimCall>(name: Name, parameters: ShimCalls[Name]['parameters']): Promise<ShimCalls[Name]['result']> {
    return (await this.connect()).call(name, parameters);
  }
}

async function findOrStart({ dir, program, clock = realClock }: ConnectShimOptions): Promise<Socket> {
  const path = socketPath(dir);
  const deadline = clock.monotonic() + START_PATIENCE_MS;
  for (;;) {
    const socket = await dial(path);
    if (socket !== undefined) return socket;
    if (clock.monotonic() > deadline) {
      throw new ShimError('Disconnected', `Cannot start the shim for "${dir}": it does not come up; ${shimLogPath(dir)} says why`);
    }
    // One that ends without being ready has left the place to another, which is about to listen.
    if (!(await startShim(dir, program ?? shimProgram()))) await pause(clock, RETRY_MS);
  }
}

function dial(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', () => resolve(undefined));
  });
}

/** Resolves to whether it is ready for clients. Rejects when it fails to start. */
async function startShim(dir: string, program: string): Promise<boolean> {
  prepareShimFolder(dir);
  mkdirSync(dirname(shimLogPath(dir)), { recursive: true });
  const log = openSync(shimLogPath(dir), 'a', 0o600);
  try {
    const child = spawn(process.execPath, [...SHIM_FLAGS, program, '--dir', dir, '--ready-fd', '3'], {
      // Nothing of the agent's secrets or settings belongs to the parent of the containers.
      env: { PATH: process.env.PATH ?? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', TMPDIR: process.env.TMPDIR },
      cwd: '/',
      stdio: ['ignore', log, log, 'pipe'],
      detached: true,
    });
    child.unref();
    const ready = child.stdio[3] as Readable;
    return await new Promise<boolean>((resolve, reject) => {
      const fail = (why: string) => {
        reject(new ShimError('Disconnected', `Cannot start the shim for "${dir}": ${why}; ${shimLogPath(dir)} says more`));
      };
      child.once('error', (error) => fail(error.message));
      child.once('exit', (code, signal) => (code === 0 ? resolve(false) : fail(`it ended with ${code ?? signal}`)));
      ready.once('data', () => resolve(true));
    });
  } finally {
    closeSync(log);
  }
}

function shimProgram(): string {
  const path = builtProgram('shim.js');
  if (path !== undefined) return path;
  throw new ShimError('Disconnected', 'Cannot start the shim: its program shim.js is not beside this one; build the product first');
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(ms, resolve).hold?.();
  });
}
