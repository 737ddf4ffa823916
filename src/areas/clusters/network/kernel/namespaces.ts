import { readdirSync, statSync } from 'node:fs';

/** Where named network namespaces are mounted, as `ip netns` does it. */
const NAMESPACE_FOLDER = '/run/netns';

export function namespacePath(name: string): string {
  return `${NAMESPACE_FOLDER}/${name}`;
}

/** Namespaces by name, each with what tells it from another of the same name. */
export function namespacesWith(prefix: string): Map<string, number> {
  let names: string[];
  try {
    names = readdirSync(NAMESPACE_FOLDER);
  } catch {
    return new Map();
  }
  const own = names.filter((name) => name.startsWith(prefix));
  return new Map(own.map((name) => [name, statSync(namespacePath(name), { throwIfNoEntry: false })?.ino ?? 0]));
}
