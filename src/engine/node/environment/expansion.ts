/** `$(NAME)` references as Kubernetes expands them: `$$` is a dollar sign, what is not complete or not a reference stays as written. */
export function expand(text: string, valueOf: (name: string) => string): string {
  let expanded = '';
  let copied = 0;
  for (let at = text.indexOf('$'); at >= 0 && at + 1 < text.length; at = text.indexOf('$', copied)) {
    expanded += text.slice(copied, at);
    const { content, length } = readReference(text, at + 1, valueOf);
    expanded += content;
    copied = at + 1 + length;
  }
  return expanded + text.slice(copied);
}

/** A variable that is not known stays as the reference that was written. */
export function valueFrom(...variables: ReadonlyMap<string, string>[]): (name: string) => string {
  return (name) => {
    for (const known of variables) {
      const value = known.get(name);
      if (value !== undefined) return value;
    }
    return `$(${name})`;
  };
}

/** What stands behind a dollar sign at `start` and how much of the text that is. */
function readReference(text: string, start: number, valueOf: (name: string) => string): { content: string; length: number } {
  const first = String.fromCodePoint(text.codePointAt(start)!);
  if (first === '$') return { content: '$', length: 1 };
  if (first !== '(') return { content: `$${first}`, length: first.length };
  const end = text.indexOf(')', start + 1);
  if (end < 0) return { content: '$(', length: 1 };
  return { content: valueOf(text.slice(start + 1, end)), length: end + 1 - start };
}

/** `command` and `args` of a container, with its environment put in. */
export function expandCommand(
  container: { command?: readonly string[]; args?: readonly string[] },
  env: Readonly<Record<string, string>>,
): { command?: string[]; args?: string[] } {
  const valueOf = valueFrom(new Map(Object.entries(env)));
  const expandAll = (texts: readonly string[] | undefined): string[] | undefined =>
    texts?.length ? texts.map((text) => expand(text, valueOf)) : undefined;
  return { command: expandAll(container.command), args: expandAll(container.args) };
}

/** subPathExpr: unlike elsewhere every variable must have a value. @throws Error in Kubernetes' words */
export function expandSubPath(expression: string, env: Readonly<Record<string, string>>): string {
  const missing = new Set<string>();
  const expanded = expand(expression, (name) => {
    const value = Object.hasOwn(env, name) ? env[name] : '';
    if (value === '') missing.add(name);
    return value;
  });
  if (missing.size > 0) throw new Error(`missing value for ${[...missing].toSorted().join(', ')}`);
  return expanded;
}
