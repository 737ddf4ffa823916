export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS_NAME = 'system:anonymous';

/** Everyone who proved to be someone is in this group, unless it is there already or was ruled out. */
export function withAuthenticatedGroup(userName: string, groups: readonly string[]): string[] {
  const settled = userName === ANONYMOUS_NAME || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED);
  return settled ? [...groups] : [...groups, AUTHENTICATED];
}
