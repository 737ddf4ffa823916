import { createHash } from 'node:crypto';

/** What Kafka takes as the name of a topic. */
const MAX_TOPIC = 249;
const HASH_LENGTH = 16;
/** Event types have no underscore, so no event can be named like a dead-letter topic. */
const DEAD_LETTERS = '_dlq';

/** A user has one password, so a plugin has two users in turns: one rotates while the other still holds. */
export const SLOTS = ['a', 'b'] as const;
export type Slot = (typeof SLOTS)[number];

/** `school.enrollment.completed.v1`: the events of one type in one tenant. The name of a tenant has no dot, so the first one ends it. */
export function topicOf(tenant: string, eventType: string): string {
  return `${tenant}.${eventType}`;
}

/** `school._dlq.hello.`: where the plugin puts what it could not handle. */
export function deadLetterPrefixOf(tenant: string, plugin: string): string {
  return `${tenant}.${DEAD_LETTERS}.${plugin}.`;
}

/** A name that would be too long has a hash instead of its end, after an underscore, which no event type has. */
export function deadLetterTopicOf(tenant: string, plugin: string, eventType: string): string {
  const plain = `${deadLetterPrefixOf(tenant, plugin)}${eventType}`;
  if (plain.length <= MAX_TOPIC) return plain;
  const hash = createHash('sha256').update(eventType).digest('hex').slice(0, HASH_LENGTH);
  return `${plain.slice(0, MAX_TOPIC - HASH_LENGTH - 1)}_${hash}`;
}

/** `school.hello.`: how its consumer groups and transactional ids begin. It ends in what neither name has: `t1` is not the start of `t10`. */
export function clientPrefixOf(tenant: string, plugin: string): string {
  return `${tenant}.${plugin}.`;
}

/** Neither part has an underscore, so a name is read in one way. */
export function userOf(tenant: string, plugin: string, slot: Slot): string {
  return `plugin_${plugin}_${tenant}_${slot}`;
}

export function usersOf(tenant: string, plugin: string): string[] {
  return SLOTS.map((slot) => userOf(tenant, plugin, slot));
}

/** Whose user that is; undefined when it is no plugin's. */
export function ownerOf(user: string): { tenant: string; plugin: string } | undefined {
  const [, plugin, tenant] = /^plugin_([^_]+)_([^_]+)_[ab]$/.exec(user) ?? [];
  return plugin === undefined ? undefined : { tenant, plugin };
}

const TENANT_TOPIC = /^[^.]+\.(_dlq\.[a-z0-9-]+\..+|[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+\.v[1-9]\d*)$/;

/** Whether a topic is one that the platform made for the tenant: its prefix alone could be that of somebody else. */
export function isTopicOfTenant(topic: string, tenant: string): boolean {
  return topic.startsWith(`${tenant}.`) && TENANT_TOPIC.test(topic);
}

/** What a name of a topic, group or transactional id says about whose it is. */
export function tenantOf(resource: string): string | undefined {
  const dot = resource.indexOf('.');
  return dot > 0 ? resource.slice(0, dot) : undefined;
}
