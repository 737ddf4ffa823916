import { isIP } from 'node:net';
import { ConnectionPool, findCoordinatorV4, metadataV12, type API, type Connection, type ResponseError } from '@platformatic/kafka';
import type { BrokerSettings, ServerAddress } from './model/broker-settings.ts';
import { addressText } from './model/broker-settings.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 15_000;
const GROUP_COORDINATOR = 0;

export interface TopicPartition {
  topic: string;
  partition: number;
}

export interface ClusterView {
  servers: Map<number, ServerAddress>;
  /** Those of the asked that exist, with the leader of each partition. */
  topics: Map<string, number[]>;
}

/** Requests to a cluster: to any of its brokers, or to the one that answers for something. Nothing is tried twice: who asks tries again. */
export class KafkaClient {
  readonly #pool: ConnectionPool;
  readonly #bootstrap: readonly ServerAddress[];

  constructor({ servers, admin, tls }: BrokerSettings) {
    this.#bootstrap = servers;
    this.#pool = new ConnectionPool('tenantry', {
      connectTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      ...(admin ? { sasl: { mechanism: admin.mechanism, username: admin.user, password: admin.password } } : {}),
      ...(tls ? { tls: tls.ca === undefined ? {} : { ca: tls.ca } } : {}),
      // A proxy in front of brokers goes by the name that is called; an address is no such name.
      ...(tls && servers.every(({ host }) => isIP(host) === 0) ? { tlsServerName: true } : {}),
    });
    // The pool listens for the first error of a connection only; another one would end the process.
    this.#pool.on('connecting', ({ connection }) => connection.on('error', () => {}));
  }

  /** Admin requests are taken by any broker and passed on to the one in charge. */
  async ask<A extends unknown[], R>(api: API<A, R>, ...args: A): Promise<R> {
    const connection = await this.#connected(() => this.#pool.getFirstAvailable([...this.#bootstrap]), this.#bootstrap);
    return api.async(connection, ...args);
  }

  async askOne<A extends unknown[], R>(server: ServerAddress, api: API<A, R>, ...args: A): Promise<R> {
    const connection = await this.#connected(() => this.#pool.get({ ...server }), [server]);
    return api.async(connection, ...args);
  }

  async view(topics: readonly string[] | null): Promise<ClusterView> {
    const asked = topics === null ? null : [...topics];
    const answer = await tolerating(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'], () =>
      this.ask(metadataV12.api, asked, false, false),
    );
    return {
      servers: new Map(answer.brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }])),
      topics: new Map(
        answer.topics
          .filter(({ errorCode, isInternal }) => errorCode === 0 && !isInternal)
          .map(({ name, partitions }) => [name!, leadersOf(partitions)]),
      ),
    };
  }

  /** The groups by the broker that keeps them. */
  async coordinators(groups: readonly string[]): Promise<{ server: ServerAddress; groups: string[] }[]> {
    if (groups.length === 0) return [];
    const { coordinators } = await this.ask(findCoordinatorV4.api, GROUP_COORDINATOR, [...groups]);
    const byServer = new Map<string, { server: ServerAddress; groups: string[] }>();
    for (const { key, host, port } of coordinators) {
      const known = byServer.get(`${host}:${port}`) ?? { server: { host, port }, groups: [] };
      known.groups.push(key);
      byServer.set(`${host}:${port}`, known);
    }
    return [...byServer.values()];
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #connected(connect: () => Promise<Connection>, servers: readonly ServerAddress[]): Promise<Connection> {
    try {
      return await connect();
    } catch (error) {
      throw new Error(`Cannot reach Kafka at ${servers.map(addressText).join(', ')}: ${innermost(error)}`, { cause: error });
    }
  }
}

export function leaderOf({ servers, topics }: ClusterView, { topic, partition }: TopicPartition): ServerAddress | undefined {
  const leader = topics.get(topic)?.[partition];
  return leader === undefined ? undefined : servers.get(leader);
}

/** The answer, even when parts of it are one of these errors. Who asks about many things gets the others. */
export async function tolerating<R>(codes: readonly string[], ask: () => Promise<R>): Promise<R> {
  try {
    return await ask();
  } catch (error) {
    const { response, errors = [] } = error as Partial<ResponseError>;
    if (response === undefined) throw error;
    if (errors.every(({ apiId }) => codes.includes(apiId))) return response as R;
    throw new Error(`Kafka refuses: ${innermost(error)}`, { cause: error });
  }
}

function leadersOf(partitions: readonly { partitionIndex: number; leaderId: number }[]): number[] {
  const leaders: number[] = [];
  for (const { partitionIndex, leaderId } of partitions) leaders[partitionIndex] = leaderId;
  return leaders;
}

/** The client wraps errors in errors; what happened is in the last one. */
function innermost(error: unknown): string {
  const { errors, cause, message, serverErrorMessage } = error as {
    errors?: unknown[];
    cause?: unknown;
    message: string;
    serverErrorMessage?: string;
  };
  if (errors !== undefined && errors.length > 0) return innermost(errors[0]);
  if (cause !== undefined) return innermost(cause);
  return serverErrorMessage || message;
}
