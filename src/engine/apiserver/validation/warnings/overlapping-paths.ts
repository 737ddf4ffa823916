import { quote } from '../../../../kube/go-text.ts';
import type { Json } from '../../../../kube/object.ts';

/** Files of a volume that would lie inside or over one another. */
interface Placed {
  path: string;
  source: string;
}

function describe({ path, source }: Placed): string {
  return source === '' ? quote(path) : `${quote(path)} (${source})`;
}

/** Each file is compared with each; further ones than these go without advice. */
const MAX_FILES = 500;

function overlaps(all: Placed[]): string[] {
  const found: string[] = [];
  const before: Placed[] = [];
  for (const { path: written, source } of all.slice(0, MAX_FILES)) {
    const placed = { path: written.replace(/\/+$/, ''), source };
    for (const other of before) {
      if (placed.path === '' || other.path === '') continue;
      const [a, b] = [`${placed.path}/`, `${other.path}/`];
      if (a.startsWith(b) || b.startsWith(a)) found.push(`${describe(placed)} with ${describe(other)}`);
    }
    before.push(placed);
  }
  return found;
}

function placed(items: Json[] | undefined, source: string): Placed[] {
  return (items ?? []).map((item) => ({ path: item.path ?? '', source }));
}

function projectedPaths(source: Json): Placed[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle: bundle, podCertificate } = source;
  if (configMap?.items !== undefined) return placed(configMap.items, `ConfigMap ${quote(configMap.name ?? '')}`);
  if (secret?.items !== undefined) return placed(secret.items, `Secret ${quote(secret.name ?? '')}`);
  if (downwardAPI?.items !== undefined) return placed(downwardAPI.items, 'DownwardAPI');
  if (serviceAccountToken !== undefined) return placed([serviceAccountToken], 'ServiceAccountToken');
  if (bundle !== undefined) return placed([bundle], `ClusterTrustBundle ${quote(bundle.name ?? bundle.signerName ?? '')}`);
  const files = [
    ['certificateChainPath', 'chain'],
    ['keyPath', 'key'],
    ['credentialBundlePath', 'credential bundle'],
  ];
  return files
    .filter(([field]) => podCertificate?.[field])
    .map(([field, what]) => ({ path: podCertificate[field], source: `PodCertificate ${what}` }));
}

export function overlappingPathWarnings(volumes: Json[]): string[] {
  const found: string[] = [];
  for (const volume of volumes) {
    const { name = '', configMap, secret, downwardAPI, projected } = volume;
    const add = (what: string, all: Placed[]): void => {
      for (const overlap of overlaps(all)) found.push(`volume ${quote(name)} (${what}): overlapping paths: ${overlap}`);
    };
    if (configMap?.items !== undefined) add(`ConfigMap ${quote(configMap.name ?? '')}`, placed(configMap.items, ''));
    if (secret?.items !== undefined) add(`Secret ${quote(secret.secretName ?? '')}`, placed(secret.items, ''));
    if (downwardAPI?.items !== undefined) add('DownwardAPI', placed(downwardAPI.items, ''));
    if (projected === undefined) continue;
    const sources: Json[] = projected.sources ?? [];
    for (const source of sources) {
      if (Object.keys(source).length === 0) found.push(`volume ${quote(name)} (Projected) has no sources provided`);
    }
    add('Projected', sources.flatMap(projectedPaths));
  }
  return found;
}
