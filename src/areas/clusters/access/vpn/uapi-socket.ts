import { constants, open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { readUapi, type UapiState } from './model/uapi.ts';

/** The open line to a gateway's program. One question at a time; its end is the program's. */
export class UapiSocket {
  readonly #socket: Socket;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open(folder: string, name: string, onEnd: () => void): Promise<UapiSocket> {
    // The kernel takes 107 bytes: the folder is named by what we have open of it.
    const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      return await UapiSocket.#connect(`/proc/self/fd/${handle.fd}/${name}`, onEnd);
    } finally {
      await handle.close();
    }
  }

  static #connect(path: string, onEnd: () => void): Promise<UapiSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        socket.on('error', () => {});
        socket.once('close', onEnd);
        // It must not keep the process that holds it from ending.
        socket.unref();
        resolve(new UapiSocket(socket));
      });
    });
  }

  /** @throws Error with what the program said */
  ask(question: string): Promise<UapiState> {
    const answer = this.#turn.then(() => this.#ask(question));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  #ask(question: string): Promise<UapiState> {
    return new Promise((resolve, reject) => {
      let text = '';
      const onData = (chunk: Buffer): void => {
        text += chunk.toString();
        const answer = readUapi(text);
        if (answer === undefined) return;
        finish();
        if (answer.errno === 0) resolve(answer.state);
        else reject(new Error(`Cannot configure the VPN gateway: its program says ${answer.errno}`));
      };
      const onClose = (): void => {
        finish();
        reject(new Error('Cannot configure the VPN gateway: its program ended'));
      };
      const finish = (): void => {
        this.#socket.off('data', onData).off('close', onClose);
      };
      this.#socket.on('data', onData).once('close', onClose);
      this.#socket.write(question);
    });
  }
}
