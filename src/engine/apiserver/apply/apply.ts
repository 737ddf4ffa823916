import { copyInSlices, equalInSlices, isHeavy } from '../../../kube/json-slices.ts';
import { toApiVersion, type Json, type KubeObject, type ManagedFieldsEntry } from '../../../kube/object.ts';
import { badRequestError, failure } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import type { Resource } from '../registry/resource.ts';
import { runToEnd, type Sliced } from '../schema/slices.ts';
import { joinFindings, typeFindings, typeFindingsInSlices } from './configuration-check.ts';
import { conflictRefusal, type Conflict } from './conflicts.ts';
import type { Difference, Ignored } from './field-difference.ts';
import { difference, isEmptySet, type FieldSet } from './field-set.ts';
import { difference as differenceOf } from './large/differences.ts';
import { difference as differenceOfSets, intersection } from './large/field-sets.ts';
import { statedFields } from './large/owned-fields.ts';
import { mergeValues } from './large/values.ts';
import { takenOverFields, updateLastApplied } from './last-applied.ts';
import { managedEntry, readManagedFieldsInSlices, sameManager, sortEntries, type ManagedEntry } from './managed-entries.ts';
import { objectTypeOf } from './object-type.ts';
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
}

/** An apply that nothing speaks against, before what it made is decoded. */
export interface AppliedDraft {
  /** Private: decoding may edit it. */
  object: Json;
  /** What is stored already and needs no decoding. */
  unchanged: boolean;
  /** Records who owns what in the decoded object. */
  finish(decoded: KubeObject): KubeObject;
}

/**
 * Server-side apply: the live object with a configuration merged into it, what the manager no longer applies taken out, and
 * ownership recorded. Neither `live` nor `config` is changed. `live` is undefined when the object is to be created.
 * @param decode brings the merged object to its canonical form: types, defaults, nulls dropped. May edit what it is given.
 * @throws StatusError Conflict when others own what would change; BadRequest and 500 in Kubernetes' words for bad configurations
 */
export function applyConfiguration(
  live: KubeObject | undefined,
  config: KubeObject,
  options: ApplyOptions,
  decode: (object: Json) => KubeObject,
): KubeObject {
  const draft = runToEnd(applySteps(live, config, options));
  return draft.finish(draft.unchanged ? draft.object : decode(draft.object));
}

/** The same with pauses, up to the decoding. */
export function* applySteps(live: KubeObject | undefined, config: KubeObject, options: ApplyOptions): Sliced<AppliedDraft> {
  const { resource, subresource, manager } = options;
  const apiVersion = toApiVersion(resource.group, resource.version);
  const { type, empty, ignored, reset } = objectTypeOf(resource);
  yield* checkConfiguration(type, config, resource);
  const target = live ?? ({ ...empty, apiVersion, kind: resource.kind, metadata: { ...empty.metadata } } as KubeObject);
  const { managedFields: stored, ...metadata } = target.metadata;
  const bare = { ...target, metadata } as KubeObject;
  const entries = yield* entriesBefore(stored, type, empty, bare, options);
  const self = { manager, operation: 'Apply' as const, apiVersion, subresource };
  const stated = yield* statedFields(type, config, ignored(subresource));
  const applier = new Applier(type, bare, config, entries, self, stated);
  const merged = yield* applier.merge(reset(subresource));
  const found = yield* differenceOf(type, bare, merged, ignored(subresource));
  if (!options.force) refuseConflicts(yield* applier.conflicts(found), takenOverFields(manager, type, bare, apiVersion));
  const unchanged = live !== undefined && (yield* equalInSlices(bare, merged));
  const time = unchanged ? entries.find((entry) => sameManager(entry, self))?.time : formatTime(options.now());
  const object = yield* copyInSlices(unchanged ? bare : merged);
  const updated = yield* applier.entriesAfter(found, time);
  return {
    object,
    unchanged,
    finish(decoded) {
      updateLastApplied(manager, decoded, config);
      if (updated.length > 0) decoded.metadata.managedFields = updated;
      return decoded;
    },
  };
}

function* checkConfiguration(type: ValueType, config: KubeObject, resource: Resource): Sliced<void> {
  const apiVersion = toApiVersion(resource.group, resource.version);
  if (config.apiVersion !== apiVersion || config.kind !== resource.kind) {
    throw badRequestError(`invalid object type: ${printKind(config.apiVersion ?? '', config.kind ?? '')}`);
  }
  const { managedFields } = config.metadata ?? {};
  if (managedFields !== undefined && managedFields !== null) throw badRequestError('metadata.managedFields must be nil');
  const findings = isHeavy(config) ? yield* typeFindingsInSlices(type, config) : typeFindings(type, config);
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
function* entriesBefore(
  stored: ManagedFieldsEntry[] | undefined,
  type: ValueType,
  empty: Json,
  live: KubeObject,
  options: ApplyOptions,
): Sliced<readonly ManagedEntry[]> {
  let entries: readonly ManagedEntry[];
  try {
    entries = yield* readManagedFieldsInSlices(stored ?? []);
  } catch (error) {
    throw failure('', `failed to decode managed fields: ${(error as Error).message}`);
  }
  if (entries.length > 0) return entries;
  const { ignored } = objectTypeOf(options.resource);
  const found = yield* differenceOf(type, empty, live, ignored(options.subresource));
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
  readonly #live: KubeObject;
  readonly #config: KubeObject;
  readonly #others: readonly ManagedEntry[];
  readonly #last: ManagedEntry | undefined;
  readonly #stated: FieldSet | undefined;
  readonly #self: Self;

  constructor(
    type: ValueType,
    live: KubeObject,
    config: KubeObject,
    entries: readonly ManagedEntry[],
    self: Self,
    stated: FieldSet | undefined,
  ) {
    this.#type = type;
    this.#live = live;
    this.#config = config;
    this.#self = self;
    this.#last = entries.find((entry) => sameManager(entry, self));
    this.#others = entries.filter((entry) => entry !== this.#last);
    this.#stated = stated;
  }

  /** What the configuration says of the server's own fields counts here: it keeps metadata from being pruned as a whole. */
  *merge(reset: Ignored): Sliced<Json> {
    const merged: Json = yield* mergeValues(this.#type, this.#live, this.#config);
    const owned = this.#others.map((entry) => entry.fieldsV1);
    const stated = yield* statedFields(this.#type, this.#config, reset);
    if (stated !== undefined) owned.push(stated);
    return yield* pruneUnowned(this.#type, merged, this.#last?.fieldsV1, owned);
  }

  *conflicts({ changed }: Difference): Sliced<Conflict[]> {
    const found: Conflict[] = [];
    for (const entry of this.#others) {
      const fields = yield* intersection(entry.fieldsV1, changed);
      if (fields !== undefined) found.push({ entry, fields });
    }
    return found;
  }

  *entriesAfter({ changed, removed }: Difference, time: string | undefined): Sliced<ManagedEntry[]> {
    const after: ManagedEntry[] = [];
    for (const entry of this.#others) {
      const kept = yield* differenceOfSets(yield* differenceOfSets(entry.fieldsV1, changed), removed);
      if (kept === entry.fieldsV1) after.push(entry);
      else if (!isEmptySet(kept)) after.push({ ...entry, fieldsV1: kept! });
    }
    if (!isEmptySet(this.#stated)) after.push(managedEntry({ ...this.#self, time, fieldsV1: this.#stated! }));
    return sortEntries(after);
  }
}
