import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { client, ensureLeaf } from '../../../../lib/pki/ensure-pki.ts';
import { KeyFiles, type CertificateFile } from '../../../../lib/pki/key-files.ts';
import { readIfPresent, replaceFile } from '../../../../lib/pki/private-file.ts';

/** As kubeadm calls it, and never system:masters, whose rights nobody can take away. */
const OWNER_GROUP = 'kubeadm:cluster-admins';
const OWNER_NAME = 'kubernetes-admin';
const OWNER_FILE = /^owner-(\d+)\.(crt|key)$/;

/** A group for each edition: only the one of now is bound inside, so earlier credentials have no rights. */
export function ownerGroupOf(revision: number): string {
  return revision === 0 ? OWNER_GROUP : `${OWNER_GROUP}:${revision}`;
}

/** The owners' credentials of this edition; those of earlier ones go. */
export async function ensureOwner(
  folder: string,
  authority: CertificateFile,
  revision: number,
  now: number,
): Promise<{ owner: CertificateFile; ownerGroup: string }> {
  const files = new KeyFiles(folder);
  const ownerGroup = ownerGroupOf(revision);
  const owner = await ensureLeaf(files, `owner-${revision}`, authority, now, client(OWNER_NAME, [ownerGroup]));
  await files.flush();
  for (const name of await readdir(folder)) {
    const edition = OWNER_FILE.exec(name)?.[1];
    if (edition !== undefined && Number(edition) !== revision) await rm(join(folder, name), { force: true });
  }
  return { owner, ownerGroup };
}

/** What Secrets of a backup were encrypted with can be read from now on; new ones are encrypted as before. */
export async function addEncryptionKeys(folder: string, text: string): Promise<void> {
  const path = join(folder, 'encryption.key');
  const lines = ((await readIfPresent(path)) ?? '').split('\n').filter((line) => line !== '');
  const known = new Set(lines.map((line) => line.split(' ')[0]));
  const more = text.split('\n').filter((line) => line !== '' && !known.has(line.split(' ')[0]));
  if (more.length > 0) await replaceFile(path, `${[...lines, ...more].join('\n')}\n`, 0o600);
}

export function firstEnd(certificates: readonly CertificateFile[]): number {
  return Math.min(...certificates.map(({ certificate }) => Date.parse(certificate.validTo)));
}
