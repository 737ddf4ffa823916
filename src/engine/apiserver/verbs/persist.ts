import { stringifyInSlices } from '../../../kube/json-slices.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { failure } from '../../../kube/status.ts';
import { StoreError, type Entry } from '../../store/store.ts';
import { encodeJson } from '../encoding/json.ts';
import type { Resource } from '../registry/resource.ts';
import { runInSlices } from '../schema/slices.ts';
import type { ServerCore } from './core.ts';
import { canonical } from './system-fields.ts';

const MAX_STORED_BYTES = 4 * 1024 * 1024;

/** The object in the version and form in which it is stored. Synchronous unless a conversion webhook is involved. */
export function toStored(resource: Resource, object: KubeObject): KubeObject | Promise<KubeObject> {
  const stored = resource.toStorage === undefined ? object : resource.toStorage(object);
  return stored instanceof Promise ? stored.then(canonical) : canonical(stored);
}

function encoder(core: ServerCore, resource: Resource, stored: KubeObject, encoded?: Encoded) {
  return (revision: number) => {
    const next = String(revision);
    stored.metadata.resourceVersion = next;
    const bytes = encodeJson(encoded === undefined ? JSON.stringify(stored) : withRevision(encoded, next));
    if (bytes.byteLength > MAX_STORED_BYTES) {
      throw failure(
        'RequestEntityTooLarge',
        `Cannot store ${resource.resource} "${stored.metadata.name}": it takes ${bytes.byteLength} bytes, the limit is ${MAX_STORED_BYTES}; make it smaller`,
        {},
      );
    }
    return { bytes, attachment: core.cache.adopt(stored, bytes.byteLength) };
  };
}

/**
 * Writes over the version that was read (undefined: there was none). @throws StoreError Conflict synchronously when it is no longer the
 * latest; StatusError when the disk refuses.
 */
export function persist(
  core: ServerCore,
  resource: Resource,
  key: string,
  read: Entry | undefined,
  stored: KubeObject,
  encoded?: Encoded,
): Promise<Entry> {
  return core.store.put(key, expectedRevision(core, key, read), encoder(core, resource, stored, encoded)).catch((error: unknown) => {
    throw storageFailure(resource, stored.metadata.name ?? '', error);
  });
}

export function persistRemoval(core: ServerCore, resource: Resource, key: string, read: Entry, last: KubeObject): Promise<Entry> {
  return core.store.remove(key, expectedRevision(core, key, read), encoder(core, resource, canonical(last))).catch((error: unknown) => {
    throw storageFailure(resource, last.metadata.name ?? '', error);
  });
}

/** The version that was read, once it is durable: for a write that would change nothing. @throws StatusError when the disk refused it. */
export function acknowledge(core: ServerCore, resource: Resource, read: Entry): Entry | Promise<Entry> {
  const durable = core.store.durable(read);
  if (!(durable instanceof Promise)) return durable;
  return durable.catch((error: unknown) => {
    throw storageFailure(resource, core.cache.object(read).metadata.name ?? '', error);
  });
}

/** By identity, because revisions of refused commits are given again: the same number may be another state than the one that was read. */
function expectedRevision(core: ServerCore, key: string, read: Entry | undefined): number {
  if (core.store.latest(key) === read) return read?.revision ?? 0;
  throw new StoreError('Conflict', `Cannot write "${key}": it changed since it was read; read it again and retry`);
}

export function isConflict(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'Conflict';
}

function storageFailure(resource: Resource, name: string, error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  if (error.code === 'Conflict' || error.code === 'Compacted') return error;
  const what = `Cannot store ${resource.resource} "${name}"`;
  const texts: Partial<Record<string, string>> = {
    DiskFull: `${what}: the disk of the data directory is full; free some space and try again (reads go on, nothing is lost)`,
    StoreFull: `${what}: the store has reached its limit; delete what is not needed and try again (reads and deletions go on, nothing is lost)`,
    Closed: `${what}: the server is shutting down; try again after it has started`,
  };
  const text = texts[error.code] ?? `${what}: the data directory cannot be written (${error.message}); see the server's log`;
  return failure('ServiceUnavailable', text, {}, 503);
}

/** An object's text with the revision it had when it was read. */
export interface Encoded {
  text: string;
  revision: string;
}

/** The text to write, or undefined when writing `stored` would change nothing but the revision. */
export function encodeIfChanged(entry: Entry, stored: KubeObject): Encoded | undefined {
  const revision = String(entry.revision);
  stored.metadata.resourceVersion = revision;
  const text = JSON.stringify(stored);
  const same = Buffer.byteLength(text) === entry.bytes.byteLength && Buffer.compare(encodeJson(text), entry.bytes) === 0;
  return same ? undefined : { text, revision };
}

/** The text of a large object that is about to be stored, made with pauses. */
export async function encodeInSlices(stored: KubeObject): Promise<Encoded> {
  const revision = stored.metadata.resourceVersion ?? '';
  return { text: await runInSlices(stringifyInSlices(stored)), revision };
}

/** `encodeIfChanged` with pauses, for a large object. */
export async function encodeLargeIfChanged(entry: Entry, stored: KubeObject): Promise<Encoded | undefined> {
  stored.metadata.resourceVersion = String(entry.revision);
  const encoded = await encodeInSlices(stored);
  const same = Buffer.byteLength(encoded.text) === entry.bytes.byteLength && Buffer.compare(encodeJson(encoded.text), entry.bytes) === 0;
  return same ? undefined : encoded;
}

/** The same text with the revision that the write got: cheaper than encoding the object again. */
function withRevision({ text, revision }: Encoded, next: string): string {
  // Only names, which cannot hold quotes, stand before it.
  const mark = `"resourceVersion":"${revision}"`;
  const at = text.indexOf(mark);
  return `${text.slice(0, at)}"resourceVersion":"${next}"${text.slice(at + mark.length)}`;
}
