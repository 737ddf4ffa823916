import type { ContentStore } from './content-store.ts';
import type { ImageRecord } from './image-record.ts';

export interface CollectorPorts {
  store: ContentStore;
  /** Layers that images under way count on. */
  isHeld(chainId: string): boolean;
  /** Hex names of layers that are mounted somewhere. */
  mountedLayers(): Promise<Set<string>>;
}

/** How old a layer of no image must be: another process may be about to make its image. */
const ORPHAN_AGE_MS = 24 * 3600 * 1000;

/** An image is made ready before its container exists: so young a one is about to be used. The kubelet's own default. */
const MINIMUM_AGE_MS = 2 * 60 * 1000;

/** Removes images, the least recently used first, until so many bytes are free. Gives back how many it were. */
export async function collectImages(ports: CollectorPorts, inUse: ReadonlySet<string>, bytes: number, now: number): Promise<number> {
  const stored = await ports.store.images();
  const free = stored
    .filter(({ record, lastUsed }) => !isUsed(record, inUse) && now - lastUsed >= MINIMUM_AGE_MS)
    .sort((a, b) => a.lastUsed - b.lastUsed);
  const mounted = free.length > 0 && bytes > 0 ? await ports.mountedLayers() : new Set<string>();
  let kept = stored.map(({ record }) => record);
  let freed = 0;
  for (const { record } of free) {
    if (freed >= bytes) break;
    if (record.layers.some((id) => mounted.has(hexOf(id)) || ports.isHeld(id))) continue;
    kept = kept.filter(({ digest }) => digest !== record.digest);
    freed += await removeImage(ports, record, kept);
  }
  return freed;
}

/** Removes one image with its names, and the layers that no other image has. */
export async function removeImage(
  ports: Pick<CollectorPorts, 'store' | 'isHeld'>,
  record: ImageRecord,
  others: readonly ImageRecord[],
): Promise<number> {
  const { store } = ports;
  for (const { name, digest } of await store.names()) if (digest === record.digest) await store.removeName(name);
  await store.removeImage(record.digest);
  const needed = new Set(others.flatMap(({ layers }) => layers));
  let freed = 0;
  for (const chainId of record.layers) {
    if (needed.has(chainId) || ports.isHeld(chainId)) continue;
    freed += (await store.layer(chainId))?.bytes ?? 0;
    await store.removeLayer(chainId);
  }
  return freed;
}

/** Removes layers of no image: what pulls that never ended have left. */
export async function removeOrphans(ports: CollectorPorts, now: number): Promise<void> {
  const needed = new Set((await ports.store.images()).flatMap(({ record }) => record.layers));
  const old = (await ports.store.layers()).filter(({ chainId, since }) => !needed.has(chainId) && now - since > ORPHAN_AGE_MS);
  if (old.length === 0) return;
  const mounted = await ports.mountedLayers();
  for (const { chainId } of old) {
    if (!mounted.has(hexOf(chainId)) && !ports.isHeld(chainId)) await ports.store.removeLayer(chainId);
  }
}

function isUsed(record: ImageRecord, inUse: ReadonlySet<string>): boolean {
  return inUse.has(record.digest) || Object.keys(record.access).some((repository) => inUse.has(`${repository}@${record.digest}`));
}

function hexOf(chainId: string): string {
  return chainId.slice('sha256:'.length);
}
