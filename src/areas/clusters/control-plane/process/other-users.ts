import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Why processes of tenants cannot have a user of their own; undefined: they can. */
export async function whyNoOwnUsers(files: readonly string[]): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'Tenantry does not run as root, so all its processes have the same user';
  for (const file of files) {
    const blocking = await notForOthers(file);
    if (blocking !== undefined) return `"${blocking}" is closed to other users, and the program of control planes is in it`;
  }
  return undefined;
}

async function notForOthers(file: string): Promise<string | undefined> {
  if (((await stat(file)).mode & 0o004) === 0) return file;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}
