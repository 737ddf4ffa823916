import { Socket } from 'node:net';
import type { GoMessage, LaunchMessage } from '../areas/clusters/control-plane/process/launch.ts';

/** The channel to whoever started it. */
export class Starter {
  readonly #socket = new Socket({ fd: 3 });

  constructor() {
    this.#socket.on('error', () => {});
  }

  /** Resolves with what is said first; one that goes away without a word wants nothing any more. */
  async word(): Promise<GoMessage> {
    const said = await new Promise<string | undefined>((resolve) => {
      let text = '';
      this.#socket.on('data', (chunk) => {
        text += String(chunk);
        if (text.endsWith('\n')) resolve(text);
      });
      this.#socket.once('close', () => resolve(undefined));
      this.#socket.once('end', () => resolve(undefined));
    });
    if (said === undefined) process.exit(0);
    return JSON.parse(said) as GoMessage;
  }

  tell(message: LaunchMessage): Promise<void> {
    return new Promise((resolve) => void this.#socket.write(`${JSON.stringify(message)}\n`, () => resolve()));
  }

  close(): void {
    this.#socket.destroy();
  }
}
