import { deadLetterPrefixOf, topicOf } from './event-names.ts';
import type { EventTypes } from './wanted-events.ts';

export interface Leaving {
  tenant: string;
  plugin: string;
  /** Of every version that it is known to have had. */
  types: Pick<EventTypes, 'consumes' | 'produces'>;
}

/** The topics that go with the data of a plugin: its dead letters, and events that no other plugin of the tenant names. */
export function topicsToRemove(existing: readonly string[], leaving: Leaving, namedByOthers: readonly string[]): string[] {
  const { tenant, plugin, types } = leaving;
  const own = new Set([...types.consumes, ...types.produces].map((type) => topicOf(tenant, type)));
  for (const type of namedByOthers) own.delete(topicOf(tenant, type));
  const deadLetters = deadLetterPrefixOf(tenant, plugin);
  return existing.filter((topic) => own.has(topic) || topic.startsWith(deadLetters));
}
