const SHOWN = 5;

/** The first few names; a message has no room for all. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).join(', ');
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}
