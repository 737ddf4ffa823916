import { deadLetterPrefixOf, isTopicOfTenant, topicOf } from './event-names.ts';
import type { EventTypes } from './wanted-events.ts';

export interface Leaving {
  tenant: string;
  plugin: string;
  /** Of every version that it is known to have had. */
  types: Pick<EventTypes, 'consumes' | 'produces'>;
  /** The tenant goes too. */
  isTenantGoing: boolean;
}

/**
 * The topics that go with the data of a plugin: its dead letters, and events that no other plugin of the tenant names. With the tenant go all
 * that were made for it.
 */
export function topicsToRemove(existing: readonly string[], leaving: Leaving, namedByOthers: readonly string[]): string[] {
  const { tenant, plugin, types } = leaving;
  if (leaving.isTenantGoing) return existing.filter((topic) => isTopicOfTenant(topic, tenant));
  const own = new Set([...types.consumes, ...types.produces].map((type) => topicOf(tenant, type)));
  for (const type of namedByOthers) own.delete(topicOf(tenant, type));
  const deadLetters = deadLetterPrefixOf(tenant, plugin);
  return existing.filter((topic) => own.has(topic) || topic.startsWith(deadLetters));
}
