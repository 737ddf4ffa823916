import { formatTime } from '../../../kube/time.ts';
import { required, type FieldError } from '../../../kube/field-error.ts';
import { NAME_RULES, validateObjectMeta } from '../../../kube/metadata-validation.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { alreadyExistsError, failure, forbiddenError, invalidError } from '../../../kube/status.ts';
import type { Entry } from '../../store/store.ts';
import type { AdmissionRequest } from '../admission/admission.ts';
import { refuseAbsentOrLeaving } from '../admission/namespace-lifecycle.ts';
import { restoreManagedFields } from '../apply/after-admission.ts';
import { trackUpdate, trackUpdateInSlices, type TrackOptions } from '../apply/track-update.ts';
import type { ApiRequest, ApiResponse } from '../chain/request.ts';
import { objectResponse } from '../chain/request.ts';
import { storageKey } from '../registry/keys.ts';
import type { Resource, WriteContext } from '../registry/resource.ts';
import { runInSlices } from '../schema/slices.ts';
import { admissionRequest } from './admit.ts';
import { afterBreath, breathe } from './body-limits.ts';
import { decodeAdmitted, decodeBody, readBody } from './body.ts';
import type { ServerCore } from './core.ts';
import { encodeInSlices, isConflict, persist, toStored } from './persist.ts';
import { entryResponse, presenterFor } from './presentation.ts';
import { canonical, fitNamespace, wipeSystemFields } from './system-fields.ts';
import { checksExpressions } from './value-limits.ts';
import { fieldManagerOf, isDryRun, writeOptions, type ParsedWriteOptions } from './write-options.ts';

const NAME_ATTEMPTS = 8;
const MAX_GENERATED_PREFIX = 58;

export async function create(core: ServerCore, resource: Resource, request: ApiRequest): Promise<ApiResponse> {
  const presenter = presenterFor(core, resource, request);
  const options = writeOptions(request, 'CreateOptions');
  const body = await readBody(request, resource);
  const decoding = decodeBody(resource, body, options.fieldValidation, (text) => request.warnings.push(text), request.large);
  const object = decoding instanceof Promise ? await decoding : decoding;
  if (request.large) await breathe();
  wipeSystemFields(object.metadata);
  fitNamespace(resource, object, request.info.namespace);
  const track: TrackOptions = { manager: fieldManagerOf(options, request), resource, subresource: '', now: core.now };
  if (request.large) await runInSlices(trackUpdateInSlices(undefined, object, track));
  else trackUpdate(undefined, object, track);
  const created = await createObject(core, resource, request, object, options);
  return 'entry' in created ? entryResponse(201, created.entry, presenter) : objectResponse(201, created.object);
}

/** Admission, validation and storing of a new object. A dry run goes all the way and stores nothing. */
export async function createObject(
  core: ServerCore,
  resource: Resource,
  request: ApiRequest,
  draft: KubeObject,
  options: ParsedWriteOptions,
): Promise<{ entry: Entry } | { object: KubeObject }> {
  if (resource.terminating === true) {
    throw forbiddenError(resource, draft.metadata.name ?? '', 'create not allowed while custom resource definition is terminating');
  }
  const dryRun = isDryRun(options);
  const namespace = resource.namespaced ? request.info.namespace : resource.resource === 'namespaces' ? (draft.metadata.name ?? '') : '';
  const admission = admissionRequest(resource, request, {
    operation: 'CREATE',
    object: draft,
    name: request.info.name || (draft.metadata.name ?? ''),
    namespace,
    options,
    dryRun,
  });
  try {
    const mutating = core.admission.mutate(admission);
    if (mutating !== undefined) await mutating;
    let object = admission.object!;
    if (object !== draft) {
      object = await decodeAdmitted(resource, object, request.large === true);
      restoreManagedFields(object, draft.metadata.managedFields, admission.warn);
    }
    if (request.large) await breathe();
    const generated = !object.metadata.name;
    const preparing = prepare(core, resource, request, object);
    if (preparing !== undefined) await preparing;
    admission.object = object;
    admission.name = request.info.name || (object.metadata.name ?? '');
    const validating = core.admission.validate(admission);
    if (validating !== undefined) await validating;
    if (object.metadata.resourceVersion) {
      throw failure('', 'resourceVersion should not be set on objects to be created', undefined, 500);
    }
    return await store(core, resource, admission, { generated, large: request.large === true });
  } catch (error) {
    core.admission.abandon(admission);
    throw error;
  }
}

function prepare(core: ServerCore, resource: Resource, request: ApiRequest, object: KubeObject): Promise<void> | undefined {
  const { metadata } = object;
  const context: WriteContext = { user: request.user, version: resource.version, subresource: '', now: core.now };
  metadata.uid = core.newUid();
  metadata.creationTimestamp = formatTime(core.now());
  if (!metadata.name && metadata.generateName) {
    metadata.name = metadata.generateName.slice(0, MAX_GENERATED_PREFIX) + core.randomSuffix();
  }
  resource.strategy.prepareCreate(object, context);
  const errors = metadata.name
    ? validateObjectMeta(metadata, resource.namespaced, NAME_RULES[resource.strategy.nameRule])
    : [required('metadata.name', 'name or generateName is required')];
  const finish = (found: readonly FieldError[]): void => {
    if (errors.length + found.length > 0) throw invalidError(resource, metadata.name ?? '', errors.concat(found));
    const warnings = resource.strategy.warnings?.(object, undefined);
    if (warnings !== undefined) request.warnings.push(...warnings);
  };
  const { strategy } = resource;
  const inSlices = strategy.validateLarge !== undefined && (request.large || checksExpressions(resource));
  const found = inSlices ? strategy.validateLarge!(object, undefined, context) : strategy.validateCreate(object, context);
  if (found instanceof Promise) return found.then(afterBreath).then(finish).then(breathe);
  finish(found);
  return request.large ? breathe() : undefined;
}

async function store(
  core: ServerCore,
  resource: Resource,
  admission: AdmissionRequest,
  { generated, large }: { generated: boolean; large: boolean },
): Promise<{ entry: Entry } | { object: KubeObject }> {
  const object = admission.object!;
  const namespace = object.metadata.namespace ?? '';
  for (let attempt = 1; ; attempt++) {
    const name = object.metadata.name!;
    const key = storageKey(resource, namespace, name);
    if (admission.dryRun) {
      if (core.store.latest(key) !== undefined) throw alreadyExistsError(resource, name);
      const shown = canonical(object);
      delete shown.metadata.resourceVersion;
      return { object: shown };
    }
    const converting = toStored(resource, object);
    const stored = converting instanceof Promise ? await converting : converting;
    const encoded = large ? await encodeInSlices(stored) : undefined;
    if (resource.namespaced) refuseLateForNamespace(core, admission);
    try {
      return { entry: await persist(core, resource, key, undefined, stored, encoded) };
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (!generated || attempt >= NAME_ATTEMPTS) throw alreadyExistsError(resource, name);
      object.metadata.name = object.metadata.generateName!.slice(0, MAX_GENERATED_PREFIX) + core.randomSuffix();
    }
  }
}

/**
 * The namespace may have begun to go while admission waited. Asked for once more in the turn of the write: what stands behind the end of its
 * namespace in the log would be seen by nobody who empties it.
 */
function refuseLateForNamespace(core: ServerCore, admission: AdmissionRequest): void {
  const entry = core.store.latest(`core/namespaces/${admission.namespace}`);
  refuseAbsentOrLeaving(entry && core.cache.object(entry), admission);
}
