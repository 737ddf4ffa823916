import { createSocket } from 'node:dgram';
import { readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { randomInt } from 'node:crypto';
import type { Clock } from '../../../../lib/clock.ts';
import { frameTcp, TcpFrames } from './tcp-frames.ts';

const TIMEOUT_MS = 2000;
/** What a flood of questions for other zones can hold at a time. */
const MAX_OUTSTANDING = 512;

export interface UpstreamOptions {
  clock: Clock;
  /** Where the machine's resolvers are named. */
  resolvConf?: string;
}

/** The machine's own resolvers, for everything that is not the cluster's. */
export class Upstream {
  #clock: Clock;
  #resolvConf: string;
  #read: { mtimeMs: number; servers: string[] } | undefined;
  #outstanding = 0;

  constructor({ clock, resolvConf = '/etc/resolv.conf' }: UpstreamOptions) {
    this.#clock = clock;
    this.#resolvConf = resolvConf;
  }

  /** The answer of the first resolver that gives one, as it came but for the id. Undefined: none did. */
  async ask(query: Buffer, transport: 'udp' | 'tcp'): Promise<Buffer | undefined> {
    if (this.#outstanding >= MAX_OUTSTANDING) return undefined;
    this.#outstanding++;
    try {
      // An id of our own, that the asker does not know and so cannot use to slip in an answer.
      const sent = Buffer.from(query);
      sent.writeUInt16BE(randomInt(0x1_0000), 0);
      for (const server of await this.#servers()) {
        const answer = await (transport === 'udp' ? this.#askUdp(sent, server) : this.#askTcp(sent, server));
        if (!answer) continue;
        const copy = Buffer.from(answer);
        query.copy(copy, 0, 0, 2);
        return copy;
      }
      return undefined;
    } finally {
      this.#outstanding--;
    }
  }

  async #servers(): Promise<string[]> {
    try {
      const { mtimeMs } = await stat(this.#resolvConf);
      if (this.#read?.mtimeMs !== mtimeMs) this.#read = { mtimeMs, servers: nameservers(await readFile(this.#resolvConf, 'utf8')) };
      return this.#read.servers;
    } catch {
      return [];
    }
  }

  #askUdp(query: Buffer, server: string): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      const socket = createSocket(server.includes(':') ? 'udp6' : 'udp4');
      const end = (answer?: Buffer): void => {
        timer.cancel();
        socket.removeAllListeners();
        socket.on('error', () => {});
        socket.close();
        resolve(answer);
      };
      const timer = this.#clock.setTimer(TIMEOUT_MS, end);
      socket.on('error', () => end());
      socket.on('message', (answer) => {
        if (isAnswerTo(answer, query)) end(answer);
      });
      // Connected: the kernel drops what comes from elsewhere.
      socket.connect(53, server, () => socket.send(query));
    });
  }

  #askTcp(query: Buffer, server: string): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      const socket = connect({ host: server, port: 53 });
      const end = (answer?: Buffer): void => {
        timer.cancel();
        socket.destroy();
        resolve(answer);
      };
      const timer = this.#clock.setTimer(TIMEOUT_MS, end);
      const frames = new TcpFrames((answer) => {
        if (isAnswerTo(answer, query)) end(answer);
      });
      socket.on('error', () => end());
      socket.on('close', () => end());
      socket.on('data', (chunk) => frames.push(chunk));
      socket.write(frameTcp(query));
    });
  }
}

/** Same id, an answer, and the same question byte for byte. */
function isAnswerTo(answer: Buffer, query: Buffer): boolean {
  if (answer.length < 12 || answer.readUInt16BE(0) !== query.readUInt16BE(0) || (answer[2] & 0x80) === 0) return false;
  let end = 12;
  while (end < query.length && query[end] !== 0) end += query[end] + 1;
  end += 5;
  const fold = (bytes: Buffer): string => bytes.toString('latin1', 12, end).toLowerCase();
  return answer.readUInt16BE(4) !== 1 || fold(answer) === fold(query);
}

export function nameservers(text: string): string[] {
  const found = [...text.matchAll(/^\s*nameserver\s+([\w.:%-]+)/gm)].map(([, address]) => address);
  return [...new Set(found)].slice(0, 3);
}
