import type { IncomingMessage } from 'node:http';
import { askEtcd } from './etcd-call.ts';

const ANSWER_MS = 10_000;

export interface MemberStatus {
  id: string;
  leader: string;
  revision: string;
  bytes: number;
  bytesInUse: number;
}

/** One member of the store in this folder, by etcd's own API in the form that needs no gRPC. */
export class EtcdMember {
  readonly #socket: string;

  constructor(socket: string) {
    this.#socket = socket;
  }

  async status(): Promise<MemberStatus> {
    const { header, leader, dbSize, dbSizeInUse } = (await this.#answer('/v3/maintenance/status', {})) as {
      header: { member_id: string; revision: string };
      leader?: string;
      dbSize?: string;
      dbSizeInUse?: string;
    };
    const numbers = { bytes: Number(dbSize ?? 0), bytesInUse: Number(dbSizeInUse ?? 0) };
    return { id: header.member_id, leader: leader ?? '0', revision: header.revision, ...numbers };
  }

  /** Resolves when this member knows all that most of them have agreed on until now. */
  async catchUp(): Promise<void> {
    await this.#answer('/v3/kv/range', { key: Buffer.from('/').toString('base64'), count_only: true });
  }

  /** Which members say that there is no room. */
  async alarms(): Promise<string[]> {
    const { alarms = [] } = (await this.#answer('/v3/maintenance/alarm', { action: 'GET' })) as {
      alarms?: { memberID?: string; alarm?: string }[];
    };
    return alarms.filter(({ alarm }) => alarm === 'NOSPACE').map(({ memberID }) => memberID ?? '0');
  }

  /** With one nothing is taken but what makes room; reads go on. */
  async setAlarm(memberId: string, on: boolean): Promise<void> {
    await this.#answer('/v3/maintenance/alarm', { action: on ? 'ACTIVATE' : 'DEACTIVATE', memberID: memberId, alarm: 'NOSPACE' });
  }

  /** Forgets what was before a revision. */
  async compact(revision: string): Promise<void> {
    await this.#answer('/v3/kv/compaction', { revision, physical: true });
  }

  /** Gives back what is free inside of its file. It answers nobody meanwhile. */
  async defragment(): Promise<void> {
    await this.#answer('/v3/maintenance/defragment', {}, 120_000);
  }

  snapshot(): Promise<IncomingMessage> {
    return this.#ask('/v3/maintenance/snapshot', {}, ANSWER_MS);
  }

  async #answer(path: string, body: object, withinMs = ANSWER_MS): Promise<unknown> {
    let text = '';
    for await (const chunk of await this.#ask(path, body, withinMs)) text += String(chunk);
    return JSON.parse(text);
  }

  #ask(path: string, body: object, withinMs: number): Promise<IncomingMessage> {
    return askEtcd(path, body, { socket: this.#socket, withinMs });
  }
}

/** What comes of it with the first that it works with, asked in turn. */
export async function withAny<M, T>(members: readonly M[], work: (member: M) => Promise<T>): Promise<T> {
  let failure: unknown;
  for (const member of members) {
    try {
      return await work(member);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
