import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDns1123Subdomain } from '../kube/names.ts';
import type { Log } from '../lib/log.ts';
import { readIfPresent, replaceFile } from '../lib/pki/private-file.ts';

export interface NodeNameOptions {
  data: string;
  /** What the user says. */
  given?: string;
  hostname: string;
  log: Log;
}

/**
 * What the node of a data directory is called: Pods and volumes are bound to that name, so a machine that gets another hostname, or hands its
 * data to another machine, keeps it. Only the user gives it a new one.
 */
export async function nodeName({ data, given, hostname, log }: NodeNameOptions): Promise<string> {
  const folder = join(data, 'node');
  const path = join(folder, 'name');
  const before = (await readIfPresent(path))?.trim();
  const known = before !== undefined && isDns1123Subdomain(before).length === 0 ? before : undefined;
  const name = given ?? known ?? fitting(hostname);
  if (name === known) return name;
  if (known !== undefined) {
    log.warn(`the node has a new name; what is bound to the old one stays there until you run: kubectl delete node ${known}`, { name });
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceFile(path, `${name}\n`, 0o600);
  return name;
}

/** Machines may have names that nothing in Kubernetes can have. */
function fitting(hostname: string): string {
  const name = hostname
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .split('.')
    .map((label) => label.replaceAll(/^-+|-+$/g, ''))
    .filter((label) => label !== '')
    .join('.');
  return name || 'node';
}
