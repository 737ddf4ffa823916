import { deleteGroupsV2, deleteTopicsV6, listGroupsV4 } from '@platformatic/kafka';
import type { Clock } from '../../../lib/clock.ts';
import { applyBrokerChanges } from './broker-changes.ts';
import { readBrokerState } from './broker-state.ts';
import type { EventBroker } from './event-broker.ts';
import { KafkaClient, tolerating } from './kafka-client.ts';
import { LagMeter } from './lag/lag-meter.ts';
import type { LagQuestion, PartitionLag } from './lag/partition-lag.ts';
import { brokerDifference, type BrokerChanges } from './model/broker-difference.ts';
import type { BrokerSettings, ServerAddress } from './model/broker-settings.ts';
import type { WantedEvents } from './model/wanted-events.ts';

const TIMEOUT_MS = 10_000;
/** Brokers come and go seldom. */
const SERVERS_KNOWN_MS = 60_000;
/** One that does not answer is not asked by every installation in turn. */
const FAILURE_KNOWN_MS = 5_000;

/** A Kafka cluster, of version 3.1 or newer. */
export class KafkaBroker implements EventBroker {
  readonly settings: BrokerSettings;
  readonly #client: KafkaClient;
  readonly #meter: LagMeter;
  readonly #clock: Clock;
  #servers: { known: readonly ServerAddress[]; until: number } = { known: [], until: 0 };

  constructor(settings: BrokerSettings, clock: Clock) {
    this.settings = settings;
    this.#client = new KafkaClient(settings);
    this.#meter = new LagMeter(this.#client);
    this.#clock = clock;
  }

  async servers(): Promise<readonly ServerAddress[]> {
    const now = this.#clock.monotonic();
    if (now >= this.#servers.until) {
      const found = await this.#client.view([]).catch(() => undefined);
      const until = now + (found ? SERVERS_KNOWN_MS : FAILURE_KNOWN_MS);
      this.#servers = { known: found ? [...found.servers.values()] : this.#servers.known, until };
    }
    return this.#servers.known;
  }

  async compare(wanted: readonly WantedEvents[]): Promise<BrokerChanges[]> {
    const state = await readBrokerState(this.#client, wanted);
    return wanted.map((each) => brokerDifference(each, state));
  }

  apply(changes: BrokerChanges): Promise<void> {
    return applyBrokerChanges(this.#client, changes, this.settings.replicas);
  }

  async topics(): Promise<string[]> {
    const { topics } = await this.#client.view(null);
    return [...topics.keys()];
  }

  async removeTopics(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const topics = names.map((name) => ({ name }));
    await tolerating(['UNKNOWN_TOPIC_OR_PARTITION'], () => this.#client.ask(deleteTopicsV6.api, topics, TIMEOUT_MS));
  }

  async removeGroups(prefix: string): Promise<void> {
    const groups = (await this.#groups()).filter((group) => group.startsWith(prefix));
    for (const { server, groups: own } of await this.#client.coordinators(groups)) {
      await tolerating(['GROUP_ID_NOT_FOUND'], () => this.#client.askOne(server, deleteGroupsV2.api, own));
    }
  }

  async lags(questions: readonly LagQuestion[]): Promise<PartitionLag[]> {
    return this.#meter.measure(await this.#groups(), questions, this.#clock.now());
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Each broker knows those that it keeps. */
  async #groups(): Promise<string[]> {
    const { servers } = await this.#client.view([]);
    const answers = await Promise.all([...servers.values()].map((server) => this.#client.askOne(server, listGroupsV4.api, [], [])));
    return answers.flatMap(({ groups }) => groups.map(({ groupId }) => groupId));
  }
}
