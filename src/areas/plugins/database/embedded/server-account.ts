import { chown, lstat, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Who a process runs as. */
export interface Account {
  uid: number;
  gid: number;
}

/**
 * PostgreSQL refuses to run as root. Then it runs as a user that nobody else is: a number between those that systemd hands out to
 * containers and the end of the range. It needs no entry in any file; only `initdb` wants one, and runs as `nobody`.
 */
export const OWN_ACCOUNT: Account = { uid: 1_879_070_179, gid: 1_879_070_179 };
const NOBODY: Account = { uid: 65_534, gid: 65_534 };

export async function nobody(): Promise<Account> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(text) ?? [];
  return uid === undefined ? NOBODY : { uid: Number(uid), gid: Number(gid) };
}

/** Gives a folder and all in it to an account. */
export async function give(path: string, account: Account): Promise<void> {
  await chown(path, account.uid, account.gid);
  if (!(await lstat(path)).isDirectory()) return;
  for (const entry of await readdir(path)) await give(join(path, entry), account);
}

/** The first folder on the way to a path that the account may not pass; undefined: it gets there. */
export async function closedFolder(path: string, { uid, gid }: Account): Promise<string | undefined> {
  const folders: string[] = [];
  for (let folder = path; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (folder === dirname(folder)) break;
  }
  for (const folder of folders) {
    const { mode, uid: owner, gid: group } = await stat(folder);
    const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return folder;
  }
  return undefined;
}
