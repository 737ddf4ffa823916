import type { Json } from '../../../kube/object.ts';
import { failure } from '../../../kube/status.ts';
import type { WatchEvent } from '../../../kube/watch-event.ts';
import type { Entry, StoreEvent } from '../../store/store.ts';
import { encodeJson } from '../encoding/json.ts';
import { after, type Maybe, type Presenter } from '../encoding/presenter.ts';
import { changeFor, type ChangeType, type ObjectFilter } from './filter.ts';

/** Turns store events into what a watcher receives: lines of JSON for sockets, event objects for callers inside the process. */
export interface FrameRenderer<Chunk = unknown> {
  /** Undefined when none of the events concerns the filter. */
  events(events: readonly StoreEvent[], filter: ObjectFilter): Maybe<Chunk | undefined>;
  added(entries: readonly Entry[]): Maybe<Chunk>;
  bookmark(revision: number, annotations?: Record<string, string>): Chunk;
  expired(revision: number, oldest: number): Chunk;
}

const OPENING: Record<ChangeType, Uint8Array> = {
  ADDED: encodeJson('{"type":"ADDED","object":'),
  MODIFIED: encodeJson('{"type":"MODIFIED","object":'),
  DELETED: encodeJson('{"type":"DELETED","object":'),
};
const CLOSING = encodeJson('}\n');

export function expiredStatus(revision: number, oldest: number): Json {
  return failure('Expired', `too old resource version: ${revision} (${oldest})`).status;
}

/** A watcher that loses sight of an object gets the state it last saw, at the revision of the change that hid it. */
function lastSeen(object: Json, revision: number): Json {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

/** The same in stored bytes, which need not be read for it. Only names, which cannot hold quotes, stand before the revision. */
function lastSeenBytes(bytes: Uint8Array, revisions: { of: number; as: number }): Uint8Array | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = `"resourceVersion":"${revisions.of}"`;
  const at = text.indexOf(mark);
  if (at < 0) return undefined;
  return Buffer.concat([text.subarray(0, at), encodeJson(`"resourceVersion":"${revisions.as}"`), text.subarray(at + mark.length)]);
}

interface Change {
  type: ChangeType;
  entry: Entry;
  /** Revision of the event, when it differs from the entry's. */
  revision: number;
}

function changesOf(events: readonly StoreEvent[], filter: ObjectFilter): Change[] {
  const changes: Change[] = [];
  for (const event of events) {
    const { key } = event.entry;
    if (filter.exact ? key !== filter.keyPrefix : !key.startsWith(filter.keyPrefix)) continue;
    const change = changeFor(filter, event);
    if (change !== undefined) changes.push({ type: change.type, entry: change.entry, revision: event.revision });
  }
  return changes;
}

/** The values, or a promise of them when one of them is still to come. */
function allOf<T>(values: Maybe<T>[]): Maybe<T[]> {
  if (!values.some((value) => value instanceof Promise)) return values as T[];
  return Promise.all(values.map((value) => Promise.resolve(value)));
}

export function lineRenderer(presenter: Presenter): FrameRenderer<Uint8Array> {
  const line = (change: Change): Maybe<Uint8Array[]> => {
    if (change.revision !== change.entry.revision) {
      const bytes = presenter.verbatim ? lastSeenBytes(change.entry.bytes, { of: change.entry.revision, as: change.revision }) : undefined;
      if (bytes !== undefined) return [OPENING[change.type], bytes, CLOSING];
      const value = presenter.singleValue(change.entry);
      const encode = (object: Json) => [OPENING[change.type], encodeJson(JSON.stringify(lastSeen(object, change.revision))), CLOSING];
      return value instanceof Promise ? value.then(encode) : encode(value);
    }
    const bytes = presenter.single(change.entry);
    return bytes instanceof Promise ? bytes.then((b) => [OPENING[change.type], b, CLOSING]) : [OPENING[change.type], bytes, CLOSING];
  };
  const lines = (changes: Change[]): Maybe<Uint8Array> => {
    return after(allOf(changes.map(line)), (parts) => Buffer.concat(parts.flat()));
  };
  return {
    events(events, filter) {
      const changes = changesOf(events, filter);
      return changes.length === 0 ? undefined : lines(changes);
    },
    added: (entries) => lines(entries.map((entry) => ({ type: 'ADDED', entry, revision: entry.revision }))),
    bookmark: (revision, annotations) =>
      encodeJson(`${JSON.stringify({ type: 'BOOKMARK', object: presenter.bookmark(String(revision), annotations) })}\n`),
    expired: (revision, oldest) => encodeJson(`${JSON.stringify({ type: 'ERROR', object: expiredStatus(revision, oldest) })}\n`),
  };
}

export function eventRenderer(presenter: Presenter): FrameRenderer<WatchEvent[]> {
  const event = (change: Change): Maybe<WatchEvent> => {
    const finish = (object: Json): WatchEvent => ({
      type: change.type,
      object: change.revision === change.entry.revision ? object : lastSeen(object, change.revision),
    });
    const value = presenter.singleValue(change.entry);
    return value instanceof Promise ? value.then(finish) : finish(value);
  };
  const all = (changes: Change[]): Maybe<WatchEvent[]> => {
    return allOf(changes.map(event));
  };
  return {
    events(events, filter) {
      const changes = changesOf(events, filter);
      return changes.length === 0 ? undefined : all(changes);
    },
    added: (entries) => all(entries.map((entry) => ({ type: 'ADDED', entry, revision: entry.revision }))),
    bookmark: (revision, annotations) => [{ type: 'BOOKMARK', object: presenter.bookmark(String(revision), annotations) }],
    expired: (revision, oldest) => [{ type: 'ERROR', object: expiredStatus(revision, oldest) }],
  };
}
