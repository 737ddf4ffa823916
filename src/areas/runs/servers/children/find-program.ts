import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Where programs were found: looked up once, since every Run asks. */
const found = new Map<string, string>();

/** The file that a command line's first word means to a process with this PATH. @throws ENOENT, as Node says it */
export function findProgram(name: string, path: string): string {
  if (name.includes('/')) return name;
  const key = `${path}\0${name}`;
  const known = found.get(key);
  if (known !== undefined && isProgram(known)) return known;
  const file = path
    .split(':')
    .map((folder) => join(folder || '.', name))
    .find(isProgram);
  if (file === undefined) throw Object.assign(new Error(`spawn ${name} ENOENT`), { code: 'ENOENT', syscall: 'spawn', path: name });
  found.set(key, file);
  return file;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
