import type { PluginManifest } from '../../../../api/adapstory.com/v1/plugin-manifest.ts';
import { allow, Operation, prefixed, ResourceType, topic, type BrokerRule } from './broker-rules.ts';
import type { BrokerSettings } from './broker-settings.ts';
import { clientPrefixOf, deadLetterPrefixOf, deadLetterTopicOf, topicOf, usersOf } from './event-names.ts';

export interface WantedTopic {
  name: string;
  partitions: number;
  configs: Readonly<Record<string, string>>;
}

/** A user's password, `kept` when it stays what it is, whatever that is, or none. */
export type UserPassword = { password: string } | 'kept' | 'none';

export interface WantedUser {
  name: string;
  access: UserPassword;
  rules: readonly BrokerRule[];
  quotas: Readonly<Record<string, number>>;
}

/** What the broker has to hold for one plugin of one tenant. */
export interface WantedEvents {
  topics: readonly WantedTopic[];
  /** All that a plugin can have, those that it has not at the moment too. */
  users: readonly WantedUser[];
}

export interface EventTypes {
  consumes: readonly string[];
  produces: readonly string[];
  /** Consumed types whose failures go to a topic of their own. */
  deadLetters: readonly string[];
}

/** The event types of all these manifests: while a version replaces another, both are at work with one identity. */
export function eventTypesOf(manifests: readonly PluginManifest[]): EventTypes {
  const consumes = new Set<string>();
  const produces = new Set<string>();
  const deadLetters = new Set<string>();
  for (const { spec } of manifests) {
    const { events = {} } = spec;
    for (const type of events.produces ?? []) produces.add(type);
    for (const type of events.consumes ?? []) {
      consumes.add(type);
      if (events.dlqStrategy !== 'none') deadLetters.add(type);
    }
  }
  return { consumes: [...consumes].sort(), produces: [...produces].sort(), deadLetters: [...deadLetters].sort() };
}

export function needsEvents({ consumes, produces }: EventTypes): boolean {
  return consumes.length + produces.length > 0;
}

export type TopicSettings = Pick<BrokerSettings, 'partitions' | 'retentionMs' | 'deadLetterRetentionMs' | 'quotas'>;

export function wantedEvents(
  { tenant, plugin }: { tenant: string; plugin: string },
  types: EventTypes,
  accessOf: (user: string) => UserPassword,
  settings: TopicSettings,
): WantedEvents {
  const users = usersOf(tenant, plugin).map((name): WantedUser => {
    const access = accessOf(name);
    if (access === 'none') return withoutAccess(name);
    return { name, access, rules: rulesOf(name, tenant, plugin, types), quotas: settings.quotas };
  });
  return { users, topics: topicsOf(tenant, plugin, types, settings) };
}

/** Nobody is it any more; its topics are not touched. */
export function withdrawn(tenant: string, plugin: string): WantedEvents {
  return { topics: [], users: usersOf(tenant, plugin).map(withoutAccess) };
}

function withoutAccess(name: string): WantedUser {
  return { name, access: 'none', rules: [], quotas: {} };
}

/** The broker writes the time: a producer's clock, or its lie, changes neither lag nor retention. */
const EVENT_CONFIGS = { 'cleanup.policy': 'delete', 'message.timestamp.type': 'LogAppendTime' };

function topicsOf(tenant: string, plugin: string, types: EventTypes, settings: TopicSettings): WantedTopic[] {
  const { partitions, retentionMs, deadLetterRetentionMs } = settings;
  const wanted = (name: string, count: number, retention: number): WantedTopic => {
    return { name, partitions: count, configs: { ...EVENT_CONFIGS, 'retention.ms': String(retention) } };
  };
  const events = new Set([...types.consumes, ...types.produces]);
  return [
    ...[...events].map((type) => wanted(topicOf(tenant, type), partitions, retentionMs)),
    ...types.deadLetters.map((type) => wanted(deadLetterTopicOf(tenant, plugin, type), 1, deadLetterRetentionMs)),
  ];
}

/** Reading, writing, and nothing that makes, changes or removes. */
function rulesOf(user: string, tenant: string, plugin: string, types: EventTypes): BrokerRule[] {
  const { read, write, describe } = Operation;
  const own = clientPrefixOf(tenant, plugin);
  const rules = [
    ...types.consumes.flatMap((type) => allow(user, topic(topicOf(tenant, type)), [read, describe])),
    ...types.produces.flatMap((type) => allow(user, topic(topicOf(tenant, type)), [write, describe])),
    ...allow(user, prefixed(ResourceType.transactionalId, own), [write, describe]),
  ];
  if (types.consumes.length > 0) rules.push(...allow(user, prefixed(ResourceType.group, own), [read, describe]));
  if (types.deadLetters.length > 0) {
    rules.push(...allow(user, prefixed(ResourceType.topic, deadLetterPrefixOf(tenant, plugin)), [read, write, describe]));
  }
  return rules;
}
