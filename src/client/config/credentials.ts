import { readFile } from 'node:fs/promises';
import type { Clock } from '../../lib/clock.ts';
import { errorText } from '../../lib/log.ts';
import { TransportError } from '../transport-error.ts';

export interface KeyPair {
  cert: string;
  key: string;
}

/** How a client proves who it is. Asked before every request and connection, so that what rotates is taken up. */
export interface Credentials {
  headers(): Promise<Record<string, string>>;
  certificate(): Promise<KeyPair | undefined>;
  /** The server did not accept them. True when asking again may give others. */
  refresh(): boolean;
}

export const noCredentials: Credentials = {
  headers: () => Promise.resolve({}),
  certificate: () => Promise.resolve(undefined),
  refresh: () => false,
};

export function tokenCredentials(token: string): Credentials {
  return { ...noCredentials, headers: () => Promise.resolve({ Authorization: `Bearer ${token}` }) };
}

export function basicCredentials(username: string, password: string): Credentials {
  const encoded = Buffer.from(`${username}:${password}`).toString('base64');
  return { ...noCredentials, headers: () => Promise.resolve({ Authorization: `Basic ${encoded}` }) };
}

export function certificateCredentials(pair: () => Promise<KeyPair>): Credentials {
  return { ...noCredentials, certificate: pair };
}

/** A mounted token is replaced by the kubelet long before it expires; a minute is soon enough, and what client-go does. */
const TOKEN_FILE_AGE_MS = 60_000;

export function tokenFileCredentials(path: string, clock: Clock): Credentials {
  let token: string | undefined;
  let readAt = 0;
  const current = async (): Promise<string> => {
    if (token !== undefined && clock.monotonic() - readAt < TOKEN_FILE_AGE_MS) return token;
    let text: string;
    try {
      text = (await readFile(path, 'utf8')).trim();
    } catch (error) {
      // The old token may still be good while the file is being replaced.
      if (token !== undefined) return token;
      throw new TransportError('CredentialsFailed', `Cannot read token file "${path}": ${errorText(error)}; check that it is mounted`, {
        cause: error,
      });
    }
    if (text === '') throw new TransportError('CredentialsFailed', `Cannot use token file "${path}": it is empty`);
    readAt = clock.monotonic();
    token = text;
    return token;
  };
  return {
    ...noCredentials,
    headers: async () => ({ Authorization: `Bearer ${await current()}` }),
    refresh() {
      const asked = token !== undefined && clock.monotonic() > readAt;
      readAt = -TOKEN_FILE_AGE_MS;
      return asked;
    },
  };
}

/** A certificate from one and a header from the other. */
export function combineCredentials(all: Credentials[]): Credentials {
  if (all.length === 1) return all[0];
  return {
    async headers() {
      return Object.assign({}, ...(await Promise.all(all.map((one) => one.headers())))) as Record<string, string>;
    },
    async certificate() {
      for (const one of all) {
        const pair = await one.certificate();
        if (pair) return pair;
      }
      return undefined;
    },
    refresh() {
      let any = false;
      for (const one of all) any = one.refresh() || any;
      return any;
    },
  };
}
