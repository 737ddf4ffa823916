import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { connect } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { KEYS } from './model/store-members.ts';

const ANSWER_MS = 5000;

/** What one says that does not listen yet, or is not there; it does not hang. */
export const NOT_LISTENING = -1;

/** Every API server's certificate has it, at whatever address it is. */
const NAME = 'kubernetes';

/** Asks an API server of this folder how it is. */
export class ApiProbe {
  readonly #server: { address: string; port: number };
  #agent: Agent | undefined;

  constructor(server: { address: string; port: number }) {
    this.#server = server;
  }

  async isReady(): Promise<boolean> {
    return (await this.readiness()) === 200;
  }

  /** What it answers to the question whether it is ready; 0: nothing; NOT_LISTENING. */
  async readiness(): Promise<number> {
    this.#agent ??= await this.#newAgent();
    const { address: host, port } = this.#server;
    return new Promise<number>((resolve) => {
      const options = { host, port, servername: NAME, path: '/readyz', agent: this.#agent, timeout: ANSWER_MS };
      const sent = request(options, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on('timeout', () => sent.destroy());
      sent.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? NOT_LISTENING : 0));
      sent.end();
    });
  }

  /** Whether it shows the certificate that is on the disk; undefined: it does not answer. */
  async showsItsCertificate(): Promise<boolean | undefined> {
    this.forget();
    const { address: host, port } = this.#server;
    const wanted = new X509Certificate(await readFile(`${KEYS}/apiserver.crt`));
    const shown = await new Promise<string | undefined>((resolve) => {
      // Only looked at, not spoken to.
      const socket = connect({ host, port, rejectUnauthorized: false, timeout: ANSWER_MS }, () => {
        resolve(socket.getPeerX509Certificate()?.serialNumber);
        socket.destroy();
      });
      socket.once('error', () => resolve(undefined));
      socket.once('timeout', () => socket.destroy(new Error('no answer')));
    });
    return shown === undefined ? undefined : shown === wanted.serialNumber;
  }

  /** Uses the keys that are there now. */
  forget(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  async #newAgent(): Promise<Agent> {
    const [ca, cert, key] = await Promise.all(['ca.crt', 'admin.crt', 'admin.key'].map((name) => readFile(`${KEYS}/${name}`)));
    return new Agent({ ca, cert, key, keepAlive: true, maxSockets: 1 });
  }
}
