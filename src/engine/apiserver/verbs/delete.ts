import { formatTime } from '../../../kube/time.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../../kube/metadata-validation.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { conflictError, notFoundError, OPTIMISTIC_LOCK_MESSAGE, type StatusDetails } from '../../../kube/status.ts';
import type { Entry } from '../../store/store.ts';
import { objectResponse, type ApiRequest, type ApiResponse } from '../chain/request.ts';
import { beginDeletion, deletionFinalizer, isHeld, returnsDeletedObject } from '../registry/deletion-rules.ts';
import { storageKey } from '../registry/keys.ts';
import type { Resource } from '../registry/resource.ts';
import { admissionRequest } from './admit.ts';
import { readBody } from './body.ts';
import type { ServerCore } from './core.ts';
import { acknowledge, encodeIfChanged, isConflict, persist, persistRemoval } from './persist.ts';
import { entryResponse, presenterFor } from './presentation.ts';
import { canonical } from './system-fields.ts';
import { servedObject } from './update.ts';
import { deleteOptions, isDryRun, type ParsedDeleteOptions } from './write-options.ts';

export async function deleteOne(core: ServerCore, resource: Resource, request: ApiRequest): Promise<ApiResponse> {
  const options = await readDeleteOptions(request);
  const deleted = await deleteObject(core, resource, request, request.info.namespace, request.info.name, options);
  return deletedResponse(core, resource, request, options, deleted);
}

export async function readDeleteOptions(request: ApiRequest): Promise<ParsedDeleteOptions> {
  const body = await request.body.read();
  const empty = 'value' in body ? body.value === undefined : body.bytes.byteLength === 0;
  if (empty) return deleteOptions(request, undefined);
  const { value } = await readBody({ ...request, body: { contentType: request.body.contentType, read: () => Promise.resolve(body) } });
  return deleteOptions(request, value);
}

export interface Deleted {
  /** The last state, or the state that waits for finalizers or the grace period. */
  object: KubeObject;
  entry?: Entry;
  gone: boolean;
}

const ATTEMPTS = 16;

/** One object's deletion, in the order of Kubernetes: preconditions, grace, finalizers, then removal. */
export async function deleteObject(
  core: ServerCore,
  resource: Resource,
  request: ApiRequest,
  namespace: string,
  name: string,
  options: ParsedDeleteOptions,
): Promise<Deleted> {
  const key = storageKey(resource, namespace, name);
  for (let attempt = 1; ; attempt++) {
    const entry = core.store.latest(key);
    if (entry === undefined) throw notFoundError(resource, name);
    const stored = core.cache.object(entry);
    checkPreconditions(resource, stored, options);
    const served = servedObject(core, resource, entry);
    const admission = admissionRequest(resource, request, {
      operation: 'DELETE',
      oldObject: served instanceof Promise ? await served : served,
      name,
      namespace,
      options,
      dryRun: isDryRun(options),
    });
    const mutating = core.admission.mutate(admission);
    if (mutating !== undefined) await mutating;
    const validating = core.admission.validate(admission);
    if (validating !== undefined) await validating;
    try {
      return await removeOrMark(core, resource, key, entry, options);
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (attempt >= ATTEMPTS) throw conflictError(resource, name, OPTIMISTIC_LOCK_MESSAGE);
    }
  }
}

function checkPreconditions(resource: Resource, stored: KubeObject, { preconditions }: ParsedDeleteOptions): void {
  const { name = '', uid, resourceVersion } = stored.metadata;
  const subject = { group: resource.group, resource: resource.kind };
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    throw conflictError(
      subject,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflictError(
      subject,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

async function removeOrMark(
  core: ServerCore,
  resource: Resource,
  key: string,
  entry: Entry,
  options: ParsedDeleteOptions,
): Promise<Deleted> {
  const dryRun = isDryRun(options);
  const draft = core.cache.draft(entry);
  const { grace, pending } = gracefulDeletion(core, resource, draft, options);
  if (pending) return { object: draft, entry: await acknowledge(core, resource, entry), gone: false };
  const finalizers = withPropagation(draft.metadata.finalizers ?? [], options, resource.strategy.defaultPropagation);
  const own = deletionFinalizer(resource);
  if (own !== undefined && draft.metadata.deletionTimestamp === undefined && !finalizers.includes(own)) finalizers.push(own);
  if (finalizers.length > 0) draft.metadata.finalizers = finalizers;
  else delete draft.metadata.finalizers;
  const held = isHeld(resource, draft);
  if (held || grace > 0) {
    if (draft.metadata.deletionTimestamp === undefined) mark(core, resource, draft, grace);
    const next = canonical(draft);
    if (dryRun) return { object: next, gone: false };
    const encoded = encodeIfChanged(entry, next);
    if (encoded === undefined) return { object: next, entry: await acknowledge(core, resource, entry), gone: false };
    const written = await persist(core, resource, key, entry, next, encoded);
    return { object: next, entry: written, gone: false };
  }
  if (dryRun) return { object: draft, gone: true };
  const removed = await persistRemoval(core, resource, key, entry, draft);
  return { object: core.cache.object(removed), entry: removed, gone: true };
}

function mark(core: ServerCore, resource: Resource, draft: KubeObject, grace: number): void {
  const now = core.now();
  draft.metadata.deletionTimestamp = formatTime(new Date(now.getTime() + grace * 1000));
  draft.metadata.deletionGracePeriodSeconds = grace;
  if (draft.metadata.generation !== undefined && draft.metadata.generation > 0) draft.metadata.generation++;
  beginDeletion(resource, draft, formatTime(now));
}

/** How long the object may stay, and whether a deletion that is already under way leaves nothing to do. */
function gracefulDeletion(
  core: ServerCore,
  resource: Resource,
  draft: KubeObject,
  options: ParsedDeleteOptions,
): { grace: number; pending: boolean } {
  const { gracePeriod } = resource.strategy;
  const { metadata } = draft;
  if (gracePeriod === undefined) return { grace: 0, pending: false };
  const current = metadata.deletionGracePeriodSeconds ?? 0;
  if (metadata.deletionTimestamp === undefined) return { grace: gracePeriod(draft, options.gracePeriodSeconds), pending: false };
  if (current === 0) return { grace: 0, pending: false };
  const wanted = options.gracePeriodSeconds;
  if (wanted === undefined || wanted >= current) return { grace: current, pending: true };
  // Only ever shortened: the clock started when the first delete came.
  const began = Date.parse(metadata.deletionTimestamp) - current * 1000;
  const end = began + wanted * 1000;
  const now = core.now().getTime();
  metadata.deletionTimestamp = formatTime(new Date(Math.max(end, now)));
  const grace = end < now && wanted !== 0 ? 1 : wanted;
  metadata.deletionGracePeriodSeconds = grace;
  return { grace, pending: false };
}

function withPropagation(finalizers: string[], options: ParsedDeleteOptions, fallback: 'Orphan' | 'Background' | undefined): string[] {
  const rest = finalizers.filter((finalizer) => finalizer !== ORPHAN_FINALIZER && finalizer !== FOREGROUND_FINALIZER);
  const { orphanDependents, propagationPolicy } = options;
  if (orphanDependents !== undefined) return orphanDependents ? [...rest, ORPHAN_FINALIZER] : rest;
  if (propagationPolicy === 'Orphan') return [...rest, ORPHAN_FINALIZER];
  if (propagationPolicy === 'Foreground') return [...rest, FOREGROUND_FINALIZER];
  if (propagationPolicy === 'Background') return rest;
  if (finalizers.includes(ORPHAN_FINALIZER) || finalizers.includes(FOREGROUND_FINALIZER)) return [...finalizers];
  return fallback === 'Orphan' ? [...rest, ORPHAN_FINALIZER] : rest;
}

function deletedResponse(
  core: ServerCore,
  resource: Resource,
  request: ApiRequest,
  options: ParsedDeleteOptions,
  deleted: Deleted,
): ApiResponse | Promise<ApiResponse> {
  // Accepted only for the old way of asking for a cascade: clients of the others expect 200.
  const status = !deleted.gone && options.orphanDependents === false ? 202 : 200;
  if (deleted.gone && !returnsDeletedObject(resource)) return objectResponse(200, deletionStatus(resource, deleted.object));
  if (deleted.entry === undefined) return objectResponse(status, deleted.object);
  return entryResponse(status, deleted.entry, presenterFor(core, resource, request));
}

function deletionStatus(resource: Resource, object: KubeObject): object {
  const details: StatusDetails = { name: object.metadata.name };
  if (resource.group !== '') details.group = resource.group;
  details.kind = resource.resource;
  details.uid = object.metadata.uid;
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
