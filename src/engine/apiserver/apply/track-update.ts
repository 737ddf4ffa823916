import { equalInSlices, type Sliced } from '../../../kube/json-slices.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { toApiVersion, type KubeObject, type ManagedFieldsEntry } from '../../../kube/object.ts';
import { formatTime } from '../../../kube/time.ts';
import type { Resource } from '../registry/resource.ts';
import { difference as differenceOf, type Difference } from './field-difference.ts';
import { covers, difference, intersects, isEmptySet, union, type FieldSet } from './field-set.ts';
import { difference as largeDifferenceOf } from './large/differences.ts';
import * as large from './large/field-sets.ts';
import {
  capEntries,
  isReset,
  managedEntry,
  readManagedFields,
  readManagedFieldsInSlices,
  sameManager,
  sortEntries,
  type ManagedEntry,
} from './managed-entries.ts';
import { objectTypeOf } from './object-type.ts';

export interface TrackOptions {
  /** The client's fieldManager, or the first part of its user agent. */
  manager: string;
  resource: Resource;
  /** '' for the object itself. */
  subresource: string;
  now: () => Date;
}

/**
 * Records in `next.metadata.managedFields` who owns what after an ordinary create, update or patch. Runs on every write, so what is stored is
 * used as it is: when nothing changed hands, the entries of `old` are shared. `old` is never changed; what the client sent as
 * managedFields in `next` is taken only if it is valid, as upstream does.
 */
export function trackUpdate(old: KubeObject | undefined, next: KubeObject, options: TrackOptions): void {
  const entries = startingEntries(old, next, options.subresource);
  // An object whose managers were forgotten stays untracked until somebody applies it.
  if (entries.length === 0 && old !== undefined) {
    delete next.metadata.managedFields;
    return;
  }
  const { type, empty, ignored } = objectTypeOf(options.resource);
  const found = differenceOf(type, old ?? empty, next, ignored(options.subresource));
  const updated = recordUpdate(entries, found, options);
  if (updated.length > 0) next.metadata.managedFields = updated as ManagedFieldsEntry[];
  else delete next.metadata.managedFields;
}

/** The same with pauses, for objects of thousands of fields. */
export function* trackUpdateInSlices(old: KubeObject | undefined, next: KubeObject, options: TrackOptions): Sliced<void> {
  const entries = yield* largeStartingEntries(old, next, options.subresource);
  if (entries.length === 0 && old !== undefined) {
    delete next.metadata.managedFields;
    return;
  }
  const { type, empty, ignored } = objectTypeOf(options.resource);
  const found = yield* largeDifferenceOf(type, old ?? empty, next, ignored(options.subresource));
  const updated = yield* recordLargeUpdate(entries, found, options);
  if (updated.length > 0) next.metadata.managedFields = updated as ManagedFieldsEntry[];
  else delete next.metadata.managedFields;
}

/** What the client sent counts, unless it cannot be read or says nothing; subresources keep the stored ones. */
function startingEntries(old: KubeObject | undefined, next: KubeObject, subresource: string): readonly ManagedEntry[] {
  const stored = (old?.metadata.managedFields ?? []) as readonly ManagedEntry[];
  const given = next.metadata.managedFields;
  if (subresource !== '' || given === undefined || given === null) return stored;
  if (given === old?.metadata.managedFields || (given.length === stored.length && deepEqual(given, stored))) return stored;
  if (isReset(given)) return [];
  try {
    const read = readManagedFields(given);
    return read.length > 0 ? read : stored;
  } catch {
    return stored;
  }
}

function* largeStartingEntries(old: KubeObject | undefined, next: KubeObject, subresource: string): Sliced<readonly ManagedEntry[]> {
  const stored = (old?.metadata.managedFields ?? []) as readonly ManagedEntry[];
  const given = next.metadata.managedFields;
  if (subresource !== '' || given === undefined || given === null) return stored;
  if (given === old?.metadata.managedFields || (given.length === stored.length && (yield* equalInSlices(given, stored)))) return stored;
  if (isReset(given)) return [];
  try {
    const read = yield* readManagedFieldsInSlices(given);
    return read.length > 0 ? read : stored;
  } catch {
    return stored;
  }
}

type RecordOptions = Omit<TrackOptions, 'resource'> & { resource: Pick<Resource, 'group' | 'version'> };

/** Takes changed fields from whoever owned them and gives them to the manager. */
export function recordUpdate(entries: readonly ManagedEntry[], found: Difference, options: RecordOptions): readonly ManagedEntry[] {
  const { changed, removed } = found;
  if (changed === undefined && removed === undefined) return entries;
  const record = new UpdateRecord(entries, options);
  for (const entry of record.others) record.keep(entry, without(entry.fieldsV1, changed, removed));
  return record.finish(ownFields(record.own?.fieldsV1, changed, removed), changed !== undefined);
}

function* recordLargeUpdate(entries: readonly ManagedEntry[], found: Difference, options: TrackOptions): Sliced<readonly ManagedEntry[]> {
  const { changed, removed } = found;
  if (changed === undefined && removed === undefined) return entries;
  const record = new UpdateRecord(entries, options);
  for (const entry of record.others) {
    record.keep(entry, yield* large.difference(yield* large.difference(entry.fieldsV1, changed), removed));
  }
  const kept = yield* large.difference(record.own?.fieldsV1, removed);
  const covered = changed !== undefined && kept !== undefined && (yield* large.covers(kept, changed));
  return record.finish(covered ? kept : yield* large.union(kept, changed), changed !== undefined);
}

/** The entries of one update while they are put together. */
class UpdateRecord {
  readonly own: ManagedEntry | undefined;
  readonly others: ManagedEntry[] = [];
  readonly #entries: readonly ManagedEntry[];
  readonly #self: Pick<ManagedEntry, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;
  readonly #now: () => Date;
  readonly #result: ManagedEntry[] = [];
  #same = true;

  constructor(entries: readonly ManagedEntry[], { manager, resource, subresource, now }: RecordOptions) {
    const apiVersion = toApiVersion(resource.group, resource.version);
    this.#self = { manager: manager || 'unknown', operation: 'Update', apiVersion, subresource };
    this.#entries = entries;
    this.#now = now;
    for (const entry of entries) {
      if (this.own === undefined && sameManager(entry, this.#self)) this.own = entry;
      else this.others.push(entry);
    }
  }

  /** Another manager's entry, and what it still owns. */
  keep(entry: ManagedEntry, fields: FieldSet | undefined): void {
    if (fields === entry.fieldsV1) {
      this.#result.push(entry);
      return;
    }
    this.#same = false;
    if (!isEmptySet(fields)) this.#result.push({ ...entry, fieldsV1: fields! });
  }

  finish(owned: FieldSet | undefined, changed: boolean): readonly ManagedEntry[] {
    const { own } = this;
    const [entries, result] = [this.#entries, this.#result];
    if (owned !== undefined) {
      const time = changed ? formatTime(this.#now()) : own?.time;
      if (own !== undefined && own.time === time && own.fieldsV1 === owned) result.push(own);
      else result.push(ownEntry(this.#self, time, owned));
    }
    if (this.#same && result.length === entries.length && entries.every((entry) => result.includes(entry))) return entries;
    return sortEntries(capEntries(result));
  }
}

function ownEntry(
  self: Pick<ManagedEntry, 'manager' | 'operation' | 'apiVersion' | 'subresource'>,
  time: string | undefined,
  fieldsV1: FieldSet,
): ManagedEntry {
  const { manager, operation, apiVersion, subresource } = self;
  return managedEntry({ manager, operation, apiVersion, time, fieldsV1, subresource });
}

function without(set: FieldSet, changed: FieldSet | undefined, removed: FieldSet | undefined): FieldSet | undefined {
  const kept = changed !== undefined && intersects(set, changed) ? difference(set, changed) : set;
  return kept !== undefined && removed !== undefined && intersects(kept, removed) ? difference(kept, removed) : kept;
}

function ownFields(set: FieldSet | undefined, changed: FieldSet | undefined, removed: FieldSet | undefined): FieldSet | undefined {
  const kept = set !== undefined && removed !== undefined && intersects(set, removed) ? difference(set, removed) : set;
  if (changed === undefined) return kept;
  if (kept === undefined) return changed;
  return covers(kept, changed) ? kept : union(kept, changed);
}
