import { compareText } from '../../../kube/go-text.ts';
import type { Sliced } from '../../../kube/json-slices.ts';
import type { ManagedFieldsEntry } from '../../../kube/object.ts';
import * as large from './large/field-sets.ts';
import { readFieldSet, union, type FieldSet } from './field-set.ts';

/** One manager's fields, as it stands in metadata.managedFields. Entries are shared between versions of an object: never changed. */
export interface ManagedEntry {
  readonly manager?: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: FieldSet;
  readonly subresource?: string;
}

/** An entry with its fields in the order that Kubernetes prints. Assigned one by one: this runs on every write, and spreads cost most of it. */
export function managedEntry(parts: Omit<ManagedEntry, 'fieldsType'>): ManagedEntry {
  const entry: { -readonly [field in keyof ManagedEntry]?: ManagedEntry[field] } = {};
  if (parts.manager) entry.manager = parts.manager;
  entry.operation = parts.operation;
  entry.apiVersion = parts.apiVersion;
  if (parts.time) entry.time = parts.time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = parts.fieldsV1;
  if (parts.subresource) entry.subresource = parts.subresource;
  return entry as ManagedEntry;
}

/** Managers are told apart by these. One that applies is the same in all versions. */
export function sameManager(a: ManagedEntry, b: Pick<ManagedEntry, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): boolean {
  return (
    a.operation === b.operation &&
    (a.manager ?? '') === (b.manager ?? '') &&
    (a.subresource ?? '') === (b.subresource ?? '') &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

/** @throws Error in the words of Kubernetes when the list is not valid */
export function readManagedFields(entries: readonly ManagedFieldsEntry[]): ManagedEntry[] {
  const read: ManagedEntry[] = [];
  entries.forEach((entry, index) => {
    const fields = checkedFields(entry, index);
    addEntry(read, entry, fields === undefined ? undefined : readFieldSet(fields));
  });
  return read;
}

/** The same with pauses, for entries of thousands of fields. */
export function* readManagedFieldsInSlices(entries: readonly ManagedFieldsEntry[]): Sliced<ManagedEntry[]> {
  const read: ManagedEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    const fields = checkedFields(entry, index);
    addEntry(read, entry, fields === undefined ? undefined : yield* large.readFieldSet(fields));
  }
  return read;
}

function checkedFields({ operation, apiVersion, fieldsType, fieldsV1 }: ManagedFieldsEntry, index: number): unknown {
  if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`');
  if (!apiVersion) throw new Error('apiVersion must not be empty');
  if (!fieldsType) throw new Error(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1') throw new Error(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
  return fieldsV1;
}

function addEntry(read: ManagedEntry[], entry: ManagedFieldsEntry, fieldsV1: FieldSet | undefined): void {
  const { operation, apiVersion } = entry as ManagedEntry;
  const next = managedEntry({ ...(entry as ManagedEntry), operation, apiVersion, fieldsV1: fieldsV1 ?? {} });
  const same = read.findIndex((candidate) => sameManager(candidate, next));
  if (same < 0) read.push(next);
  else read[same] = next;
}

/** A client asks to forget all managers by sending an empty list, or one empty entry. */
export function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  if (entries.length === 0) return true;
  return (
    entries.length === 1 &&
    Object.values(entries[0] as unknown as Record<string, unknown>).every((value) => value === '' || value === undefined || value === null)
  );
}

function compareEntries(a: ManagedEntry, b: ManagedEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.manager ?? '', b.manager ?? '') ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource ?? '', b.subresource ?? '')
  );
}

export function sortEntries(entries: ManagedEntry[]): ManagedEntry[] {
  return entries.length > 1 ? entries.sort(compareEntries) : entries;
}

const MAX_UPDATE_ENTRIES = 10;
const ANCIENT = 'ancient-changes';

function byAge(a: ManagedEntry, b: ManagedEntry): number {
  return compareText(a.time ?? '', b.time ?? '') || compareText(identity(a), identity(b));
}

function identity({ manager, operation, apiVersion, subresource }: ManagedEntry): string {
  return JSON.stringify({ manager, operation, apiVersion, subresource });
}

/** Bounds the entries of clients that only update: the oldest of a version are put together, so that their fields stay owned. */
export function capEntries(entries: ManagedEntry[]): ManagedEntry[] {
  if (entries.length <= MAX_UPDATE_ENTRIES) return entries;
  const updaters = entries.filter((entry) => entry.operation === 'Update').sort(byAge);
  if (updaters.length <= MAX_UPDATE_ENTRIES) return entries;
  const kept = new Set(entries);
  const first = new Map<string, ManagedEntry>();
  const buckets = new Map<string, ManagedEntry>();
  for (const entry of entries) if (entry.manager === ANCIENT && !entry.subresource) buckets.set(entry.apiVersion, entry);
  let count = updaters.length;
  for (const entry of updaters) {
    if (count <= MAX_UPDATE_ENTRIES) break;
    const oldest = first.get(entry.apiVersion);
    if (oldest === undefined) {
      first.set(entry.apiVersion, entry);
      continue;
    }
    const bucket = buckets.get(entry.apiVersion) ?? oldest;
    const merged = managedEntry({ ...entry, manager: ANCIENT, subresource: undefined, fieldsV1: union(bucket.fieldsV1, entry.fieldsV1)! });
    kept.delete(bucket);
    kept.delete(entry);
    kept.add(merged);
    buckets.set(entry.apiVersion, merged);
    count--;
  }
  return [...kept];
}
