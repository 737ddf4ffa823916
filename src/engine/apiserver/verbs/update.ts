import { invalid, type FieldError } from '../../../kube/field-error.ts';
import { copyInSlices } from '../../../kube/json-slices.ts';
import { NAME_RULES, validateObjectMeta, validateObjectMetaUpdate } from '../../../kube/metadata-validation.ts';
import type { KubeObject } from '../../../kube/object.ts';
import {
  badRequestError,
  conflictError,
  invalidError,
  isStatusError,
  notFoundError,
  OPTIMISTIC_LOCK_MESSAGE,
} from '../../../kube/status.ts';
import type { Entry } from '../../store/store.ts';
import { restoreManagedFields } from '../apply/after-admission.ts';
import { keepTimesIfUnchanged, keepTimesIfUnchangedInSlices } from '../apply/unchanged-times.ts';
import type { ApiRequest } from '../chain/request.ts';
import { isRemovable } from '../registry/deletion-rules.ts';
import { storageKey } from '../registry/keys.ts';
import { largeObject } from '../registry/large-objects.ts';
import type { Resource, WriteContext } from '../registry/resource.ts';
import { runInSlices } from '../schema/slices.ts';
import { admissionRequest } from './admit.ts';
import { afterBreath, breathe, NOTICEABLE_BYTES } from './body-limits.ts';
import { decodeAdmitted } from './body.ts';
import type { ServerCore } from './core.ts';
import { acknowledge, encodeIfChanged, encodeLargeIfChanged, isConflict, persist, persistRemoval, toStored } from './persist.ts';
import { canonical, fitNamespace, keepSystemFields } from './system-fields.ts';
import { checksExpressions } from './value-limits.ts';
import { isDryRun, type ParsedWriteOptions } from './write-options.ts';

export interface UpdateRequest {
  /** Makes the wanted object from the stored one (both in the version of the request). `old` is shared: copy before editing. */
  change(old: KubeObject): KubeObject | Promise<KubeObject>;
  /** What to create when there is nothing to update; absent: that is a 404. */
  createInstead?: () => Promise<{ entry: Entry } | { object: KubeObject }>;
  subresource: string;
  options: ParsedWriteOptions;
  /** Patches are computed again on the newer object; an update with a resourceVersion is refused. */
  retryOnConflict: boolean;
}

export type Updated = { entry: Entry; created?: boolean } | { object: KubeObject; created?: boolean };

const ATTEMPTS = 16;

/**
 * The read-change-write cycle under every update, patch and subresource. Reads see writes that wait for their commit, so a cycle
 * in which nothing is awaited cannot lose a race; one that waits for a webhook is repeated when it did.
 */
export async function updateObject(core: ServerCore, resource: Resource, request: ApiRequest, update: UpdateRequest): Promise<Updated> {
  const { name } = request.info;
  const key = storageKey(resource, request.info.namespace, name);
  for (let attempt = 1; ; attempt++) {
    const entry = core.store.latest(key);
    if (entry === undefined && update.createInstead === undefined) throw notFoundError(resource, name);
    try {
      if (entry === undefined) return { ...(await update.createInstead!()), created: true };
      return await attemptUpdate(core, resource, request, update, key, entry);
    } catch (error) {
      // Another one created it first: then there is something to update.
      if (entry === undefined && isStatusError(error, 'AlreadyExists') && attempt < ATTEMPTS) continue;
      if (!isConflict(error)) throw error;
      if (!update.retryOnConflict || attempt >= ATTEMPTS) throw conflictError(resource, name, OPTIMISTIC_LOCK_MESSAGE);
    }
  }
}

async function attemptUpdate(
  core: ServerCore,
  resource: Resource,
  request: ApiRequest,
  update: UpdateRequest,
  key: string,
  entry: Entry,
): Promise<Updated> {
  const { options, subresource } = update;
  const dryRun = isDryRun(options);
  request.large ||= entry.bytes.byteLength > NOTICEABLE_BYTES;
  const oldOrPromise = request.large ? servedLargeObject(core, resource, entry) : servedObject(core, resource, entry);
  const old = oldOrPromise instanceof Promise ? await oldOrPromise : oldOrPromise;
  const changed = update.change(old);
  const wanted = changed instanceof Promise ? await changed : changed;
  if (request.large) await breathe();
  checkIdentity(core, resource, request, wanted, entry);

  const admission = admissionRequest(resource, request, {
    operation: 'UPDATE',
    subresource,
    object: wanted,
    oldObject: old,
    name: request.info.name,
    namespace: request.info.namespace,
    options,
    dryRun,
  });
  try {
    const mutating = core.admission.mutate(admission);
    if (mutating !== undefined) await mutating;
    let next = admission.object!;
    if (next !== wanted) {
      next = await decodeAdmitted(resource, next, request.large === true);
      restoreManagedFields(next, wanted.metadata.managedFields, admission.warn);
    }
    // Scale is a view of the object itself: for the kind, writing it is writing the object.
    if (request.large) await breathe();
    const preparing = prepare(core, resource, request, next, old, subresource === 'scale' ? '' : subresource);
    if (preparing !== undefined) await preparing;
    admission.object = next;
    const validating = core.admission.validate(admission);
    if (validating !== undefined) await validating;
    if (request.large) await runInSlices(keepTimesIfUnchangedInSlices(old, next));
    else keepTimesIfUnchanged(old, next);
    return await write(core, resource, key, entry, next, { dryRun, large: request.large === true });
  } catch (error) {
    core.admission.abandon(admission);
    throw error;
  }
}

export function servedObject(core: ServerCore, resource: Resource, entry: Entry): KubeObject | Promise<KubeObject> {
  const object = core.cache.object(entry);
  return resource.fromStorage === undefined ? object : resource.fromStorage(structuredClone(object));
}

async function servedLargeObject(core: ServerCore, resource: Resource, entry: Entry): Promise<KubeObject> {
  const object = await largeObject(core.cache, entry);
  return resource.fromStorage === undefined ? object : resource.fromStorage(await runInSlices(copyInSlices(object)));
}

/** The object that is written must be the one that the path names. */
export function fitToPath(resource: Resource, request: ApiRequest, next: KubeObject): void {
  const { metadata } = next;
  const { name, namespace } = request.info;
  if (metadata.name === undefined || metadata.name === '') metadata.name = name;
  else if (metadata.name !== name) {
    throw badRequestError(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  if (resource.namespaced && metadata.namespace && metadata.namespace !== namespace) {
    throw badRequestError(`the namespace of the object (${metadata.namespace}) does not match the namespace on the request (${namespace})`);
  }
  fitNamespace(resource, next, namespace);
}

function checkIdentity(core: ServerCore, resource: Resource, request: ApiRequest, next: KubeObject, entry: Entry): void {
  fitToPath(resource, request, next);
  const { metadata } = next;
  const { name } = request.info;
  const revision = metadata.resourceVersion ?? '';
  if (revision === '' || revision === '0') {
    if (!resource.strategy.allowUnconditionalUpdate) {
      throw invalidError(resource, name, [invalid('metadata.resourceVersion', 0, 'must be specified for an update')]);
    }
    metadata.resourceVersion = String(entry.revision);
  } else if (revision !== String(entry.revision)) {
    if (!/^\d+$/.test(revision)) {
      throw invalidError(resource, name, [
        invalid('metadata.resourceVersion', revision, `strconv.ParseUint: parsing ${JSON.stringify(revision)}: invalid syntax`),
      ]);
    }
    throw conflictError(resource, name, OPTIMISTIC_LOCK_MESSAGE);
  }
  const stored = core.cache.object(entry).metadata.uid;
  if (metadata.uid && metadata.uid !== stored) {
    throw conflictError(resource, name, `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${stored}`);
  }
}

function prepare(
  core: ServerCore,
  resource: Resource,
  request: ApiRequest,
  next: KubeObject,
  old: KubeObject,
  subresource: string,
): Promise<void> | undefined {
  const context: WriteContext = { user: request.user, version: resource.version, subresource, now: core.now };
  if (old.metadata.generation === undefined) delete next.metadata.generation;
  else next.metadata.generation = old.metadata.generation;
  resource.strategy.prepareUpdate(next, old, context);
  keepSystemFields(next.metadata, old.metadata);
  const errors = [
    ...validateObjectMeta(next.metadata, resource.namespaced, NAME_RULES[resource.strategy.nameRule]),
    ...validateObjectMetaUpdate(next.metadata, old.metadata),
  ];
  const finish = (found: readonly FieldError[]): void => {
    if (errors.length + found.length > 0) throw invalidError(resource, request.info.name, errors.concat(found));
    const warnings = resource.strategy.warnings?.(next, old);
    if (warnings !== undefined) request.warnings.push(...warnings);
  };
  const { strategy } = resource;
  const inSlices = strategy.validateLarge !== undefined && (request.large || checksExpressions(resource));
  const found = inSlices ? strategy.validateLarge!(next, old, context) : strategy.validateUpdate(next, old, context);
  if (found instanceof Promise) return found.then(afterBreath).then(finish).then(breathe);
  finish(found);
  return request.large ? breathe() : undefined;
}

async function write(
  core: ServerCore,
  resource: Resource,
  key: string,
  entry: Entry,
  next: KubeObject,
  { dryRun, large }: { dryRun: boolean; large: boolean },
): Promise<Updated> {
  const converting = toStored(resource, next);
  const stored = converting instanceof Promise ? await converting : converting;
  if (isRemovable(resource, stored)) {
    if (dryRun) return { object: canonical(next) };
    return { entry: await persistRemoval(core, resource, key, entry, stored) };
  }
  // The version this write would repeat may itself still wait for its commit.
  const encoded = large ? await encodeLargeIfChanged(entry, stored) : encodeIfChanged(entry, stored);
  if (encoded === undefined) return { entry: await acknowledge(core, resource, entry) };
  if (dryRun) return { object: canonical(next) };
  if (large) await breathe();
  return { entry: await persist(core, resource, key, entry, stored, encoded) };
}
