import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The path of another program of the product: this file becomes part of one of them, or of a chunk in a folder beside them. Undefined when we
 * run from sources, which neither a thread nor a process can load.
 */
export function builtProgram(file: string): string | undefined {
  return [`./${file}`, `../${file}`].map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) => existsSync(path));
}
