import { deepCopy, deepEqual } from '../../../kube/json-value.ts';
import { toApiVersion, type Json, type KubeObject, type ManagedFieldsEntry } from '../../../kube/object.ts';
import { badRequestError, failure } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import type { Resource } from '../registry/resource.ts';
import { runToEnd, type Sliced } from '../schema/slices.ts';
import { joinFindings, typeFindings } from './configuration-check.ts';
import { conflictRefusal, type Conflict } from './conflicts.ts';
import { difference as differenceOf, type Difference, type Ignored } from './field-difference.ts';
import { difference, intersection, isEmptySet, type FieldSet } from './field-set.ts';
import { takenOverFields, updateLastApplied } from './last-applied.ts';
import { managedEntry, readManagedFields, sameManager, sortEntries, type ManagedEntry } from './managed-entries.ts';
import { mergeValues } from './merge-values.ts';
import { objectTypeOf } from './object-type.ts';
import { statedFields } from './owned-fields.ts';
import { pruneUnowned } from './prune.ts';
import { recordUpdate } from './track-update.ts';
import type { ValueType } from './value-type.ts';

export interface ApplyOptions {
  /** Required: who applies. */
  manager: string;
  /** Take over fields that others own instead of refusing. */
  force: boolean;
  resource: Resource;
  /** '' for the object itself. */
  subresource: string;
  now: () => Date;
  /** Brings the merged object to its canonical form: types, defaults, nulls dropped. May edit what it is given. */
  decode: (object: Json) => KubeObject;
}

/**
 * Server-side apply: the live object with a configuration merged into it, what the manager no longer applies taken out, and
 * ownership recorded. Neither `live` nor `config` is changed. `live` is undefined when the object is to be created.
 * @throws StatusError Conflict when others own what would change; BadRequest and 500 in Kubernetes' words for bad configurations
 */
export function applyConfiguration(live: KubeObject | undefined, config: KubeObject, options: ApplyOptions): KubeObject {
  return runToEnd(applySteps(live, config, options));
}

/** The same with pauses between its steps, each of which looks at every field of a large object. */
export function* applySteps(live: KubeObject | undefined, config: KubeObject, options: ApplyOptions): Sliced<KubeObject> {
  const { resource, subresource, manager } = options;
  const apiVersion = toApiVersion(resource.group, resource.version);
  const { type, empty, ignored, reset } = objectTypeOf(resource);
  checkConfiguration(type, config, resource);
  yield;
  const target = live ?? ({ ...empty, apiVersion, kind: resource.kind, metadata: { ...empty.metadata } } as KubeObject);
  const { managedFields: stored, ...metadata } = target.metadata;
  const bare = { ...target, metadata } as KubeObject;
  const entries = entriesBefore(stored, type, empty, bare, options);
  yield;
  const self = { manager, operation: 'Apply' as const, apiVersion, subresource };
  const applier = new Applier(type, ignored(subresource), bare, config, entries, self);
  yield;
  const merged = yield* applier.merge(reset(subresource));
  yield;
  const found = applier.compare(merged);
  yield;
  if (!options.force) refuseConflicts(applier.conflicts(found), takenOverFields(manager, type, bare, apiVersion));
  yield;
  const unchanged = live !== undefined && deepEqual(bare, merged);
  const time = unchanged ? entries.find((entry) => sameManager(entry, self))?.time : formatTime(options.now());
  const result = unchanged ? deepCopy(bare) : options.decode(deepCopy(merged));
  yield;
  updateLastApplied(manager, result, config);
  const updated = applier.entriesAfter(found, time);
  if (updated.length > 0) result.metadata.managedFields = updated;
  return result;
}

function checkConfiguration(type: ValueType, config: KubeObject, resource: Resource): void {
  const apiVersion = toApiVersion(resource.group, resource.version);
  if (config.apiVersion !== apiVersion || config.kind !== resource.kind) {
    throw badRequestError(`invalid object type: ${printKind(config.apiVersion ?? '', config.kind ?? '')}`);
  }
  const { managedFields } = config.metadata ?? {};
  if (managedFields !== undefined && managedFields !== null) throw badRequestError('metadata.managedFields must be nil');
  const findings = typeFindings(type, config);
  if (findings.length === 0) return;
  const subject = `${textOf(config.metadata?.namespace)}/${textOf(config.metadata?.name)}; ${printKind(apiVersion, resource.kind)}`;
  throw failure('', `failed to create typed patch object (${subject}): ${joinFindings(findings)}`);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function printKind(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

/** The stored entries. An object that nobody tracked so far belongs to `before-first-apply`, so that an apply cannot silently take it. */
function entriesBefore(
  stored: ManagedFieldsEntry[] | undefined,
  type: ValueType,
  empty: Json,
  live: KubeObject,
  options: ApplyOptions,
): readonly ManagedEntry[] {
  let entries: readonly ManagedEntry[];
  try {
    entries = readManagedFields(stored ?? []);
  } catch (error) {
    throw failure('', `failed to decode managed fields: ${(error as Error).message}`);
  }
  if (entries.length > 0) return entries;
  const { ignored } = objectTypeOf(options.resource);
  const found = differenceOf(type, empty, live, ignored(options.subresource));
  return recordUpdate([], { changed: found.changed }, { ...options, manager: 'before-first-apply' });
}

function refuseConflicts(conflicts: readonly Conflict[], allowed: FieldSet | undefined): void {
  const refused = conflicts
    .map(({ entry, fields }) => ({ entry, fields: difference(fields, allowed) }))
    .filter((conflict): conflict is Conflict => !isEmptySet(conflict.fields));
  if (refused.length > 0) throw conflictRefusal(refused);
}

type Self = Pick<ManagedEntry, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

/** One apply, between reading the entries and writing them. */
class Applier {
  readonly #type: ValueType;
  readonly #ignored: Ignored;
  readonly #live: KubeObject;
  readonly #config: KubeObject;
  readonly #others: readonly ManagedEntry[];
  readonly #last: ManagedEntry | undefined;
  readonly #stated: FieldSet | undefined;
  readonly #self: Self;

  constructor(type: ValueType, ignored: Ignored, live: KubeObject, config: KubeObject, entries: readonly ManagedEntry[], self: Self) {
    this.#type = type;
    this.#ignored = ignored;
    this.#live = live;
    this.#config = config;
    this.#self = self;
    this.#last = entries.find((entry) => sameManager(entry, self));
    this.#others = entries.filter((entry) => entry !== this.#last);
    this.#stated = statedFields(type, config, ignored);
  }

  /** What the configuration says of the server's own fields counts here: it keeps metadata from being pruned as a whole. */
  *merge(reset: Ignored): Sliced<Json> {
    const merged: Json = mergeValues(this.#type, this.#live, this.#config);
    yield;
    const owned = this.#others.map((entry) => entry.fieldsV1);
    const stated = statedFields(this.#type, this.#config, reset);
    if (stated !== undefined) owned.push(stated);
    yield;
    return yield* pruneUnowned(this.#type, merged, this.#last?.fieldsV1, owned);
  }

  compare(merged: Json): Difference {
    return differenceOf(this.#type, this.#live, merged, this.#ignored);
  }

  conflicts({ changed }: Difference): Conflict[] {
    const found: Conflict[] = [];
    for (const entry of this.#others) {
      const fields = intersection(entry.fieldsV1, changed);
      if (fields !== undefined) found.push({ entry, fields });
    }
    return found;
  }

  entriesAfter({ changed, removed }: Difference, time: string | undefined): ManagedEntry[] {
    const after: ManagedEntry[] = [];
    for (const entry of this.#others) {
      const kept = difference(difference(entry.fieldsV1, changed), removed);
      if (kept === entry.fieldsV1) after.push(entry);
      else if (!isEmptySet(kept)) after.push({ ...entry, fieldsV1: kept! });
    }
    if (!isEmptySet(this.#stated)) after.push(managedEntry({ ...this.#self, time, fieldsV1: this.#stated! }));
    return sortEntries(after);
  }
}
