import { readdir, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../../../lib/clock.ts';
import { client, ensureLeaf, ensurePki, RENEWAL_WINDOW_MS, type Pki } from '../../../../lib/pki/ensure-pki.ts';
import { KeyFiles, type CertificateFile } from '../../../../lib/pki/key-files.ts';
import { readIfPresent, replaceFile } from '../../../../lib/pki/private-file.ts';
import type { WantedControlPlane } from '../control-planes.ts';

export interface ClusterKeys {
  pki: Pki;
  owner: CertificateFile;
  ownerGroup: string;
  /** Milliseconds. */
  expire: number;
}

/** As kubeadm calls it, and never system:masters, whose rights nobody can take away. */
const OWNER_GROUP = 'kubeadm:cluster-admins';
const OWNER_NAME = 'kubernetes-admin';
const OWNER_FILE = /^owner-(\d+)\.(crt|key)$/;

/** A group for each edition: only the one of now is bound inside, so earlier credentials have no rights. */
export function ownerGroupOf(revision: number): string {
  return revision === 0 ? OWNER_GROUP : `${OWNER_GROUP}:${revision}`;
}

/** Makes what is missing, renews what ends soon. */
export async function ensureClusterKeys(
  folder: string,
  { names, accessRevision }: WantedControlPlane,
  endpoint: { address: string; serviceAddress: string },
  clock: Pick<Clock, 'now'>,
): Promise<ClusterKeys> {
  const pki = await ensurePki(folder, {
    names: names.filter((name) => isIP(name) === 0),
    addresses: [endpoint.address, endpoint.serviceAddress, ...names.filter((name) => isIP(name) !== 0)],
    clock,
  });
  const files = new KeyFiles(folder);
  const ownerGroup = ownerGroupOf(accessRevision);
  const owner = await ensureLeaf(files, `owner-${accessRevision}`, pki.authority, clock.now(), client(OWNER_NAME, [ownerGroup]));
  await files.flush();
  await removeEarlier(folder, accessRevision);
  const leaves = [pki.serving, pki.kubeletClient, pki.admin, pki.frontProxyClient, owner, pki.authority, pki.frontProxyAuthority];
  return { pki, owner, ownerGroup, expire: Math.min(...leaves.map(({ certificate }) => Date.parse(certificate.validTo))) };
}

/** When to look whether something has to be renewed. */
export function renewalOf({ expire }: ClusterKeys): number {
  return expire - RENEWAL_WINDOW_MS;
}

async function removeEarlier(folder: string, revision: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const edition = OWNER_FILE.exec(name)?.[1];
    if (edition !== undefined && Number(edition) !== revision) await rm(join(folder, name), { force: true });
  }
}

/** What Secrets of a backup were encrypted with can be read from now on; new ones are encrypted as before. */
export async function addEncryptionKeys(folder: string, text: string): Promise<void> {
  const path = join(folder, 'encryption.key');
  const lines = ((await readIfPresent(path)) ?? '').split('\n').filter((line) => line !== '');
  const known = new Set(lines.map((line) => line.split(' ')[0]));
  const more = text.split('\n').filter((line) => line !== '' && !known.has(line.split(' ')[0]));
  if (more.length > 0) await replaceFile(path, `${[...lines, ...more].join('\n')}\n`, 0o600);
}
