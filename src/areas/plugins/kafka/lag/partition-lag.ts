/** Which events somebody is expected to read. */
export interface LagQuestion {
  tenant: string;
  plugin: string;
  topics: readonly string[];
  /** How its consumer groups begin. */
  groupPrefix: string;
  /** Since when it should read: what came before does not wait for it as long as it has no group. In milliseconds. */
  since: number;
}

/** How far behind a consumer group is in one partition. */
export interface PartitionLag {
  tenant: string;
  plugin: string;
  topic: string;
  /** `NO_GROUP` when no group of the plugin ever confirmed anything in the topic. */
  group: string;
  partition: number;
  seconds: number;
}

export const NO_GROUP = '(none)';
