import { closeSync, constants, openSync } from 'node:fs';
import { createConnection, Socket } from 'node:net';
import { join } from 'node:path';
import { FILES } from './backend.ts';

/** What is kept of what a machine says. */
const KEPT_CHARACTERS = 32_768;
const RETRY_MS = 50;

/**
 * What a machine says, as far as we are there to hear it, and whether it lives: its processes hold its output open until the last of them has
 * ended. Nothing of it is written down, so no guest fills the disk by talking.
 */
export class MachineConsole {
  readonly #folder: string;
  readonly #listeners = new Set<(text: string) => void>();
  #output: Socket | undefined;
  #socket: Socket | undefined;
  #text = '';
  #closed = false;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static open(folder: string, consoleSocket: string | undefined, onEnd: () => void): MachineConsole {
    const console = new MachineConsole(folder);
    console.#output = new Socket({
      fd: openSync(join(folder, FILES.output), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW),
      readable: true,
      writable: false,
    });
    console.#output.on('data', (chunk) => console.#take(chunk));
    console.#output.on('error', () => {});
    console.#output.once('close', () => {
      if (!console.#closed) onEnd();
      console.close();
    });
    if (consoleSocket !== undefined) console.#dial(consoleSocket);
    return console;
  }

  get text(): string {
    return this.#text;
  }

  onText(listener: (text: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Stops to listen; the machine runs on. */
  close(): void {
    this.#closed = true;
    this.#output?.destroy();
    this.#socket?.destroy();
  }

  /** The program makes its socket a moment after it has started, and may be stopped in between: there is nobody who would tell. */
  #dial(name: string): void {
    if (this.#closed) return;
    const again = () => void (this.#closed || setTimeout(() => this.#dial(name), RETRY_MS).unref());
    let folder: number;
    try {
      // The kernel takes 107 bytes: the folder is named by what we have open of it.
      folder = openSync(this.#folder, constants.O_RDONLY | constants.O_DIRECTORY);
    } catch {
      // There is no folder any more, or too much is open just now. Whoever listens is told of the end by the output.
      again();
      return;
    }
    const socket = createConnection(`/proc/self/fd/${folder}/${name}`);
    this.#socket = socket;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', () => {});
    let isOpen = true;
    const letGo = () => {
      if (isOpen) closeSync(folder);
      isOpen = false;
    };
    socket.once('connect', letGo);
    socket.once('close', () => {
      letGo();
      again();
    });
  }

  #take(chunk: Buffer): void {
    this.#text = (this.#text + chunk.toString('latin1')).slice(-KEPT_CHARACTERS);
    for (const listener of this.#listeners) listener(this.#text);
  }
}
