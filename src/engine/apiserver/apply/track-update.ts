import { deepEqual } from '../../../kube/json-value.ts';
import { toApiVersion, type KubeObject, type ManagedFieldsEntry } from '../../../kube/object.ts';
import { formatTime } from '../../../kube/time.ts';
import type { Resource } from '../registry/resource.ts';
import { difference as differenceOf, type Difference } from './field-difference.ts';
import { covers, difference, intersects, isEmptySet, union, type FieldSet } from './field-set.ts';
import { capEntries, isReset, managedEntry, readManagedFields, sameManager, sortEntries, type ManagedEntry } from './managed-entries.ts';
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

/** Takes changed fields from whoever owned them and gives them to the manager. */
export function recordUpdate(
  entries: readonly ManagedEntry[],
  found: Difference,
  options: Omit<TrackOptions, 'resource'> & { resource: Pick<Resource, 'group' | 'version'> },
): readonly ManagedEntry[] {
  const { changed, removed } = found;
  if (changed === undefined && removed === undefined) return entries;
  const apiVersion = toApiVersion(options.resource.group, options.resource.version);
  const self = { manager: options.manager || 'unknown', operation: 'Update' as const, apiVersion, subresource: options.subresource };
  const result: ManagedEntry[] = [];
  let own: ManagedEntry | undefined;
  let same = true;
  for (const entry of entries) {
    if (own === undefined && sameManager(entry, self)) {
      own = entry;
      continue;
    }
    const kept = without(entry.fieldsV1, changed, removed);
    if (kept === entry.fieldsV1) result.push(entry);
    else {
      same = false;
      if (!isEmptySet(kept)) result.push({ ...entry, fieldsV1: kept! });
    }
  }
  const owned = ownFields(own?.fieldsV1, changed, removed);
  if (owned !== undefined) {
    const time = changed === undefined ? own?.time : formatTime(options.now());
    if (own !== undefined && own.time === time && own.fieldsV1 === owned) result.push(own);
    else result.push(ownEntry(self, time, owned));
  }
  if (same && result.length === entries.length && entries.every((entry) => result.includes(entry))) return entries;
  return sortEntries(capEntries(result));
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
