import { request } from 'node:https';

export interface Credentials {
  url: string;
  ca: Buffer;
  cert: Buffer;
  key: Buffer;
}

/** What is in the kubeconfig of a cluster's administrators. */
export function credentialsIn(kubeconfig: string): Credentials {
  const value = (field: string) => new RegExp(`${field}: "?([^"\\s]+)"?`).exec(kubeconfig)![1];
  const data = (field: string) => Buffer.from(value(`${field}-data`), 'base64');
  return { url: value('server'), ca: data('certificate-authority'), cert: data('client-certificate'), key: data('client-key') };
}

const EVERY_MS = 100;
const PATIENCE_MS = 2000;

/** Asks an API server all the time, on a new connection each time. */
export class Reachability {
  readonly #credentials: Credentials;
  readonly #began = performance.now();
  #downSince: number | undefined;
  #downMs = 0;
  #stopped = false;
  readonly #asking: Promise<void>;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
    this.#asking = this.#askOn();
  }

  /** @returns for how long it was looked at, and for how much of that nobody answered, in milliseconds */
  async stop(): Promise<{ allMs: number; downMs: number }> {
    this.#stopped = true;
    await this.#asking;
    return { allMs: performance.now() - this.#began, downMs: this.#downMs };
  }

  async #askOn(): Promise<void> {
    while (!this.#stopped) {
      const began = performance.now();
      const isUp = await this.#ask();
      if (!isUp) this.#downSince ??= began;
      else if (this.#downSince !== undefined) {
        this.#downMs += performance.now() - this.#downSince;
        this.#downSince = undefined;
      }
      await new Promise((resolve) => void setTimeout(resolve, EVERY_MS));
    }
    if (this.#downSince !== undefined) this.#downMs += performance.now() - this.#downSince;
  }

  #ask(): Promise<boolean> {
    const { url, ...keys } = this.#credentials;
    return new Promise((resolve) => {
      const sent = request(`${url}/api/v1/namespaces/default`, { ...keys, agent: false, timeout: PATIENCE_MS }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      sent.once('timeout', () => sent.destroy());
      sent.once('error', () => resolve(false));
      sent.end();
    });
  }
}
