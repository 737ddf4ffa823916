import type { BrokerSettings, ServerAddress } from './model/broker-settings.ts';
import type { BrokerChanges } from './model/broker-difference.ts';
import type { LagQuestion, PartitionLag } from './lag/partition-lag.ts';
import type { WantedEvents } from './model/wanted-events.ts';

/** What the area needs of Kafka. Nothing is written that is as it should be. */
export interface EventBroker {
  readonly settings: BrokerSettings;
  /** Every broker that answers for the cluster, as far as it is known; the bootstrap servers before that. */
  servers(): Promise<readonly ServerAddress[]>;
  /** Looks once for all of them. @returns what is not as it should be, in their order */
  compare(wanted: readonly WantedEvents[]): Promise<BrokerChanges[]>;
  apply(changes: BrokerChanges): Promise<void>;
  topics(): Promise<string[]>;
  removeTopics(names: readonly string[]): Promise<void>;
  /** Consumer groups, with what they had read. */
  removeGroups(prefix: string): Promise<void>;
  /** For how long the oldest event waits that a group has not yet confirmed, per partition. */
  lags(questions: readonly LagQuestion[]): Promise<PartitionLag[]>;
  close(): Promise<void>;
}
