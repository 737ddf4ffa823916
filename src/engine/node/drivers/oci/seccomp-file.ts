import { readFile } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { ContainerError, type SecuritySpec } from '../driver.ts';
import type { SeccompProfile } from './model/seccomp-profile.ts';

/** The profile of a container that names one of the node's own, from the folder where they are kept. */
export async function localSeccompProfile(security: SecuritySpec, folder: string): Promise<SeccompProfile | undefined> {
  const { seccomp } = security;
  if (seccomp.type !== 'Localhost') return undefined;
  const inside = normalize(seccomp.profile);
  const file = join(folder, inside);
  const refuse = (why: string): ContainerError =>
    new ContainerError('CreateContainerError', `cannot load seccomp profile "${file}": ${why}`);
  if (isAbsolute(inside) || inside.startsWith('..')) throw refuse('it is outside the folder of profiles');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refuse(error.code === 'ENOENT' ? 'no such file or directory' : error.message);
  });
  return parseProfile(text, refuse);
}

function parseProfile(text: string, refuse: (why: string) => ContainerError): SeccompProfile {
  let profile: unknown;
  try {
    profile = JSON.parse(text);
  } catch (error) {
    throw refuse(`decoding seccomp profile failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  // A file that says nothing must not become a container without a filter.
  if (typeof (profile as SeccompProfile | null)?.defaultAction !== 'string') throw refuse('it has no defaultAction');
  return profile as SeccompProfile;
}
