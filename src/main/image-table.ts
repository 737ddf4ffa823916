import type { StoredImage } from '../engine/node/images/images.ts';

/** As `tenantry image list` shows it. */
export interface ListedImage extends Omit<StoredImage, 'sizeBytes'> {
  /** Absent: it is here for tenants only. */
  sizeBytes?: number;
  /** Those of its names that workers of tenants' clusters have it by. */
  tenants?: string[];
}

/** @param shared the names that are for tenants, and their digests: Pods of this instance may have no use for them any more */
export function withTenants(stored: readonly StoredImage[], shared: ReadonlyMap<string, string>): ListedImage[] {
  const listed: ListedImage[] = stored.map((image) => ({ ...image, tenants: image.names.filter((name) => shared.has(name)) }));
  const known = new Set(stored.flatMap(({ names }) => names));
  for (const [name, digest] of shared) if (!known.has(name)) listed.push({ names: [name], digest, tenants: [name] });
  return listed.sort((a, b) => compare(a.names.at(-1) ?? '', b.names.at(-1) ?? ''));
}

/** With a column for tenants where it is known what they have. */
export function imageTable(images: readonly ListedImage[]): string {
  const hasTenants = images.some(({ tenants }) => tenants !== undefined);
  const rows = images.flatMap(({ names, digest, sizeBytes, tenants = [] }) =>
    shownNames(names).map((name) => [
      name,
      digest.slice(7, 19),
      sizeBytes === undefined ? '-' : humanSize(sizeBytes),
      ...(hasTenants ? [tenants.includes(name) ? 'yes' : '-'] : []),
    ]),
  );
  const all = [['NAME', 'DIGEST', 'SIZE', ...(hasTenants ? ['TENANTS'] : [])], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Those with a tag, if any: the digest has a column of its own. */
function shownNames(names: readonly string[]): string[] {
  const tagged = names.filter((name) => !name.includes('@'));
  return (tagged.length > 0 ? tagged : [...names]).sort(compare);
}

export function humanSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
