/** Names of fields as expressions write them: what is no identifier, or a word of CEL, is escaped. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

/** @returns undefined when the name cannot be written in an expression */
export function escapeFieldName(name: string): string | undefined {
  if (name === '' || /^[0-9]/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  if (/[^a-zA-Z0-9_./-]/.test(name)) return undefined;
  return name.replaceAll(/__|[-./]/g, (part) => {
    if (part === '__') return '__underscores__';
    return part === '.' ? '__dot__' : part === '-' ? '__dash__' : '__slash__';
  });
}

/** A word of CEL may be a field's name too, escaped or as it is. */
export function isReservedName(name: string): boolean {
  return RESERVED.has(name);
}

const UNESCAPED: Record<string, string> = { underscores: '__', dot: '.', dash: '-', slash: '/' };

/** The name that was escaped, or undefined when it holds an escape that does not exist. */
export function unescapeFieldName(escaped: string): string | undefined {
  let sound = true;
  const name = escaped.replaceAll(/__([^_]+)__/g, (whole, word: string) => {
    if (UNESCAPED[word] !== undefined) return UNESCAPED[word];
    if (RESERVED.has(word) && whole === escaped) return word;
    sound = false;
    return '';
  });
  return sound ? name : undefined;
}
