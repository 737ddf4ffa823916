import type { UserInfo } from '../user.ts';

export const NODES_GROUP = 'system:nodes';
const PREFIX = 'system:node:';

/** Which node a user is; undefined for others. */
export function nodeOfUser({ name, groups }: Pick<UserInfo, 'name' | 'groups'>): string | undefined {
  if (!groups.includes(NODES_GROUP) || !name.startsWith(PREFIX)) return undefined;
  return name.slice(PREFIX.length);
}
