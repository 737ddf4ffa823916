import { createHash } from 'node:crypto';
import { principalOf, ruleKey, type BrokerRule } from './broker-rules.ts';
import type { WantedEvents, WantedTopic, WantedUser } from './wanted-events.ts';

/** What the broker holds of what was asked about. */
export interface BrokerState {
  topics: ReadonlyMap<string, { partitions: number; configs: ReadonlyMap<string, string> }>;
  /** Users with a password of our mechanism, and how often it is hashed. */
  iterations: ReadonlyMap<string, number>;
  /** By principal. */
  rules: ReadonlyMap<string, readonly BrokerRule[]>;
  quotas: ReadonlyMap<string, Readonly<Record<string, number>>>;
}

export interface BrokerChanges {
  createTopics: WantedTopic[];
  addPartitions: { name: string; count: number }[];
  setConfigs: { name: string; configs: Record<string, string> }[];
  setPasswords: { user: string; password: string }[];
  removePasswords: string[];
  createRules: BrokerRule[];
  deleteRules: BrokerRule[];
  /** A quota that is undefined is removed. */
  setQuotas: { user: string; quotas: Record<string, number | undefined> }[];
}

const FEWEST_ITERATIONS = 4096;
const MOST_ITERATIONS = 16_384;

/**
 * A broker tells how often a password was hashed, never the password. So the number is made of the password: one that somebody else set, or
 * that is not the one of the Secret any more, is seen without a login.
 */
export function iterationsFor(password: string): number {
  const number = createHash('sha256').update(password).digest().readUInt32BE(0);
  return FEWEST_ITERATIONS + (number % (MOST_ITERATIONS - FEWEST_ITERATIONS + 1));
}

/** What has to be done so that the broker holds what is wanted, and nothing else for these users. */
export function brokerDifference({ topics, users }: WantedEvents, state: BrokerState): BrokerChanges {
  const changes: BrokerChanges = {
    createTopics: [],
    addPartitions: [],
    setConfigs: [],
    setPasswords: [],
    removePasswords: [],
    createRules: [],
    deleteRules: [],
    setQuotas: [],
  };
  for (const topic of topics) compareTopic(topic, state, changes);
  for (const user of users) compareUser(user, state, changes);
  return changes;
}

export function isUnchanged(changes: BrokerChanges): boolean {
  return Object.values(changes).every((list: readonly unknown[]) => list.length === 0);
}

/** Partitions are only ever added: to have fewer of them a topic would have to go. */
function compareTopic(wanted: WantedTopic, { topics }: BrokerState, changes: BrokerChanges): void {
  const found = topics.get(wanted.name);
  if (!found) {
    changes.createTopics.push(wanted);
    return;
  }
  if (found.partitions < wanted.partitions) changes.addPartitions.push({ name: wanted.name, count: wanted.partitions });
  const configs = Object.entries(wanted.configs).filter(([name, value]) => found.configs.get(name) !== value);
  if (configs.length > 0) changes.setConfigs.push({ name: wanted.name, configs: Object.fromEntries(configs) });
}

function compareUser(user: WantedUser, { iterations, rules, quotas }: BrokerState, changes: BrokerChanges): void {
  const { name, access } = user;
  if (access === 'none' && iterations.has(name)) changes.removePasswords.push(name);
  if (typeof access === 'object' && iterations.get(name) !== iterationsFor(access.password)) {
    changes.setPasswords.push({ user: name, password: access.password });
  }
  compareRules(user, rules.get(principalOf(name)) ?? [], changes);
  const found = quotas.get(name) ?? {};
  const different = [...new Set([...Object.keys(found), ...Object.keys(user.quotas)])].filter((key) => found[key] !== user.quotas[key]);
  if (different.length > 0)
    changes.setQuotas.push({ user: name, quotas: Object.fromEntries(different.map((key) => [key, user.quotas[key]])) });
}

function compareRules(user: WantedUser, found: readonly BrokerRule[], changes: BrokerChanges): void {
  const wanted = new Map(user.rules.map((rule) => [ruleKey(rule), rule]));
  const present = new Set(found.map(ruleKey));
  changes.createRules.push(...[...wanted].filter(([key]) => !present.has(key)).map(([, rule]) => rule));
  changes.deleteRules.push(...found.filter((rule) => !wanted.has(ruleKey(rule))));
}
