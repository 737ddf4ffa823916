import {
  alterClientQuotasV1,
  alterUserScramCredentialsV0,
  createAclsV3,
  createTopicsV7,
  deleteGroupsV2,
  deleteTopicsV6,
  describeAclsV3,
  fetchV12,
  findCoordinatorV4,
  incrementalAlterConfigsV1,
  initProducerIdV4,
  joinGroupV9,
  metadataV12,
  offsetCommitV8,
  offsetFetchV8,
  Producer,
  stringSerializers,
  type GenericError,
  type ProducerOptions,
} from '@platformatic/kafka';
import { KafkaClient } from '../../src/areas/plugins/kafka/kafka-client.ts';
import { brokerSettings } from '../../src/areas/plugins/kafka/model/broker-settings.ts';
import { saltedPassword } from '../../src/areas/plugins/kafka/scram-password.ts';

export interface Login {
  user: string;
  password: string;
}

const anyAcl = { resourceType: 2, resourcePatternType: 3, host: '*', operation: 3, permissionType: 3 } as const;

/** Somebody with a password, who tries things. Each attempt ends in `allowed` or in Kafka's name for the refusal. */
export class KafkaActor {
  readonly #client: KafkaClient;
  readonly #producer: Producer<string, string, string, string>;
  readonly #producerOptions: ProducerOptions<string, string, string, string>;

  constructor(address: string, { user, password }: Login) {
    const entries = { 'kafka-bootstrap-servers': address, 'kafka-user': user, 'kafka-password': password };
    this.#client = new KafkaClient(brokerSettings(entries)!);
    const sasl = { mechanism: 'SCRAM-SHA-512', username: user, password } as const;
    this.#producerOptions = { clientId: user, bootstrapBrokers: [address], sasl, serializers: stringSerializers };
    this.#producer = new Producer({ ...this.#producerOptions, retries: 0 });
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.close(), this.#producer.close()]);
  }

  async writeInTransaction(topic: string): Promise<void> {
    const producer = new Producer({ ...this.#producerOptions, idempotent: true, transactionalId: `transaction-${topic}`, retries: 5 });
    const transaction = await producer.beginTransaction();
    await transaction.send({ messages: [{ topic, partition: 0, key: 'key', value: 'event' }] });
    await transaction.commit();
    await producer.close();
  }

  #find(type: number, key: string): () => Promise<unknown> {
    return () => this.#client.ask(findCoordinatorV4.api, type, [key]);
  }

  login = () => attempt(() => this.#client.ask(metadataV12.api, [], false, false));
  describe = (topic: string) => attempt(() => this.#client.ask(metadataV12.api, [topic], false, false));
  read = (topic: string) =>
    attempt(() => {
      const partition = { partition: 0, currentLeaderEpoch: -1, fetchOffset: 0n, lastFetchedEpoch: -1, partitionMaxBytes: 1_000_000 };
      const topics = [{ topicId: topic, partitions: [partition] }];
      return this.#client.ask(fetchV12.api, 0, 0, 1_000_000, 1, 0, -1, topics, [], '');
    });
  write = (topic: string, value = 'event') =>
    attempt(() => this.#producer.send({ messages: [{ topic, partition: 0, key: 'key', value }] }));
  join = (group: string) =>
    attempt(
      () =>
        this.#client.ask(joinGroupV9.api, group, 10_000, 10_000, '', null, 'consumer', [{ name: 'roundrobin', metadata: Buffer.alloc(0) }]),
      this.#find(0, group),
    );
  commit = (group: string, topic: string, offset = 0n) =>
    attempt(
      () => {
        const partitions = [{ partitionIndex: 0, committedOffset: offset, committedLeaderEpoch: -1 }];
        return this.#client.ask(offsetCommitV8.api, group, -1, '', null, [{ name: topic, partitions }]);
      },
      this.#find(0, group),
    );
  offsets = (group: string) =>
    attempt(() => this.#client.ask(offsetFetchV8.api, [{ groupId: group, memberEpoch: -1, topics: null }], false), this.#find(0, group));
  deleteGroup = (group: string) => attempt(() => this.#client.ask(deleteGroupsV2.api, [group]), this.#find(0, group));
  beginTransaction = (id: string) => attempt(() => this.#client.ask(initProducerIdV4.api, id, 10_000, -1n, -1), this.#find(1, id));
  createTopic = (name: string) =>
    attempt(() => {
      const topic = { name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] };
      return this.#client.ask(createTopicsV7.api, [topic], 5_000, false);
    });
  deleteTopic = (name: string) => attempt(() => this.#client.ask(deleteTopicsV6.api, [{ name }], 5_000));
  setRetention = (topic: string, value: string) =>
    attempt(() => {
      const configs = [{ name: 'retention.ms', configOperation: 0, value } as const];
      return this.#client.ask(incrementalAlterConfigsV1.api, [{ resourceType: 2, resourceName: topic, configs }], false);
    });
  allowReading = (user: string, resourceName: string) =>
    attempt(() => this.#client.ask(createAclsV3.api, [{ ...anyAcl, resourceName, principal: `User:${user}` }]));
  listRights = () =>
    attempt(() => this.#client.ask(describeAclsV3.api, { ...anyAcl, resourceName: null, principal: null, host: null, operation: 1 }));
  setPassword = (user: string, password: string) =>
    attempt(async () => {
      const upsertion = { name: user, mechanism: 2, ...(await saltedPassword(password)) };
      return this.#client.ask(alterUserScramCredentialsV0.api, [], [upsertion]);
    });
  setQuota = (user: string, value: number) =>
    attempt(() => {
      const ops = [{ key: 'producer_byte_rate', value, remove: false } as const];
      return this.#client.ask(alterClientQuotasV1.api, [{ entities: [{ entityType: 'user', entityName: user }], ops }], false);
    });
}

/** A broker makes the topics of its groups and transactions when they are first asked for. */
const PASSING = ['NOT_COORDINATOR', 'COORDINATOR_NOT_AVAILABLE', 'COORDINATOR_LOAD_IN_PROGRESS'];

async function attempt(ask: () => Promise<unknown>, prepare?: () => Promise<unknown>): Promise<string> {
  for (let round = 0; ; round++) {
    await prepare?.().catch(() => {});
    const outcome = await once(ask);
    if (round === 100 || !PASSING.includes(outcome)) return outcome;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function once(ask: () => Promise<unknown>): Promise<string> {
  try {
    await ask();
    return 'allowed';
  } catch (error) {
    return codeOf(error as GenericError) ?? `failed: ${String(error)}`;
  }
}

/** The client wraps errors in errors. */
function codeOf(error: Partial<GenericError>): string | undefined {
  if (error['apiId'] !== undefined) return error['apiId'] as string;
  const inner = [...((error['errors'] ?? []) as GenericError[]), ...(error.cause ? [error.cause as GenericError] : [])];
  return inner.map(codeOf).find((code) => code !== undefined);
}
