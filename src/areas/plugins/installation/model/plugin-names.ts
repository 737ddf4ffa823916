import { createHash } from 'node:crypto';

const MAX_NAME = 63;
const HASH_LENGTH = 10;

/**
 * `plugin-<tenant>-<plugin>`. Where dashes could be read in two ways (`a-b` + `c`, `a` + `b-c`), or it is too long, a hash of both ends it:
 * a plain name has two dashes, one with a hash at least three, so neither is ever taken for the other.
 */
export function pluginNamespaceOf(tenant: string, plugin: string): string {
  const plain = `plugin-${tenant}-${plugin}`;
  if (!tenant.includes('-') && !plugin.includes('-') && plain.length <= MAX_NAME) return plain;
  const hash = createHash('sha256').update(`${tenant}/${plugin}`).digest('hex').slice(0, HASH_LENGTH);
  return `${plain.slice(0, MAX_NAME - HASH_LENGTH - 1).replace(/-+$/, '')}-${hash}`;
}

/** A version as the value of a label: build metadata begins with a sign that labels do not know. */
export function versionLabelOf(version: string): string {
  return version
    .replaceAll('+', '_')
    .slice(0, MAX_NAME)
    .replace(/[^A-Za-z0-9]+$/, '');
}

/** `plugin-1-2-0`: what runs a version. Dots and the dashes of a pre-release would look the same, so a hash ends such a name. */
export function workloadNameOf(version: string): string {
  const plain = `plugin-${version.replaceAll('.', '-').toLowerCase()}`;
  if (/^\d+\.\d+\.\d+$/.test(version) && plain.length <= MAX_NAME) return plain;
  const hash = createHash('sha256').update(version).digest('hex').slice(0, HASH_LENGTH);
  const base = plain.replaceAll(/[^a-z0-9-]/g, '-').slice(0, MAX_NAME - HASH_LENGTH - 1);
  return `${base.replace(/-+$/, '')}-${hash}`;
}
