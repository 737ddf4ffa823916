import { applyJsonPatch, jsonPatchSteps } from '../../../kube/json-patch.ts';
import { applyMergePatch, mergePatchSteps } from '../../../kube/merge-patch.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { badRequestError, failure } from '../../../kube/status.ts';
import { applyStrategicMergePatch, strategicMergeSteps } from '../../../kube/strategic-merge-patch.ts';
import { applyConfiguration, applySteps, type ApplyOptions } from '../apply/apply.ts';
import { trackUpdate, trackUpdateInSlices, type TrackOptions } from '../apply/track-update.ts';
import type { ApiRequest, ApiResponse } from '../chain/request.ts';
import type { Resource } from '../registry/resource.ts';
import { runInSlices, type Sliced } from '../schema/slices.ts';
import { breathe } from './body-limits.ts';
import { decodeAdmitted, decodeBody, mediaType, ownValue, parseJson, parseYaml, type ParsedBody } from './body.ts';
import type { ServerCore } from './core.ts';
import { createObject } from './create.ts';
import { patchFailure } from './patch-failure.ts';
import { updatedResponse } from './put.ts';
import { isPatchOfStatus, leavesMetadata, statusPart, withMetadata, withRest } from './status-part.ts';
import { fitNamespace, wipeSystemFields } from './system-fields.ts';
import { fitToPath, updateObject } from './update.ts';
import { refuseExcess, SLICED_VALUE_LIMIT as PATCH_VALUE_LIMIT } from './value-limits.ts';
import { fieldManagerOf, writeOptions, type ParsedWriteOptions } from './write-options.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

function acceptedTypes(resource: Resource): string[] {
  const types = [JSON_PATCH, MERGE_PATCH];
  if (resource.strategicMerge !== false) types.push(STRATEGIC_PATCH);
  return [...types, APPLY_PATCH];
}

export async function patch(core: ServerCore, resource: Resource, request: ApiRequest, subresource = ''): Promise<ApiResponse> {
  const type = mediaType(request.body.contentType);
  const accepted = acceptedTypes(resource);
  if (!accepted.includes(type)) {
    throw failure(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
      {},
    );
  }
  const options = writeOptions(request, 'PatchOptions', type === APPLY_PATCH);
  const body = await readPatch(request, resource, type);
  if (type === APPLY_PATCH) return apply(core, resource, request, subresource, body, options);

  const manager = fieldManagerOf(options, request);
  const updated = await updateObject(core, resource, request, {
    options,
    subresource,
    retryOnConflict: true,
    change: (old) => {
      const track: TrackOptions = { manager, resource, subresource, now: core.now };
      const parts = (patched: Json): Patched => ({ patched, body, type, options });
      request.large ||= type === JSON_PATCH && isLongWork(body.value);
      if (request.large) {
        return runInSlices(patchSteps(resource, type, old, body.value))
          .then((patched) => decodeLargePatched(resource, request, parts(patched)))
          .then((draft) => runInSlices(trackUpdateInSlices(old, draft, track)).then(() => draft));
      }
      const partly = type === MERGE_PATCH && isPatchOfStatus(resource, subresource, body.value);
      const lean = partly && leavesMetadata(body.value);
      const base = lean ? { ...statusPart(old), metadata: {} } : partly ? statusPart(old) : old;
      const patched: Json = applyPatch(resource, type, base, body.value);
      const decoded = decodePatched(resource, request, parts(patched)) as KubeObject;
      const part = lean ? withMetadata(decoded, old) : decoded;
      const draft = partly ? withRest(part, old) : part;
      trackUpdate(old, draft, track);
      return draft;
    },
  });
  return updatedResponse(core, resource, request, updated);
}

async function readPatch(request: ApiRequest, resource: Resource, type: string): Promise<ParsedBody> {
  const body = await request.body.read();
  if ('value' in body) return ownValue(body.value, request);
  if (type !== APPLY_PATCH) return parseJson(body.bytes, request, resource, type === JSON_PATCH ? PATCH_VALUE_LIMIT : undefined);
  // Most clients send JSON under the YAML media type; it parses an order of magnitude faster.
  if (body.bytes[0] !== 0x7b) return parseYaml(body.bytes, request, resource);
  const parsed = await parseJson(body.bytes, request, resource);
  return parsed.duplicates.length === 0 ? parsed : parseYaml(body.bytes, request, resource);
}

function applyPatch(resource: Resource, type: string, old: KubeObject, patchValue: Json): Json {
  switch (type) {
    case JSON_PATCH:
      return applyJsonPatch(old, patchValue);
    case MERGE_PATCH:
      refuseUnlessObject(patchValue);
      return applyMergePatch(old, patchValue);
    default:
      return applyStrategicMergePatch(old, patchValue, resource.schema, resource.resolve);
  }
}

/** The same with pauses. */
function* patchSteps(resource: Resource, type: string, old: KubeObject, patchValue: Json): Sliced<Json> {
  switch (type) {
    case JSON_PATCH:
      return yield* jsonPatchSteps(old, patchValue);
    case MERGE_PATCH:
      refuseUnlessObject(patchValue);
      return yield* mergePatchSteps(old, patchValue);
    default:
      return yield* strategicMergeSteps(old, patchValue, resource.schema, resource.resolve);
  }
}

function refuseUnlessObject(patch: Json): void {
  if (patch !== null && typeof patch === 'object' && !Array.isArray(patch)) return;
  const kind = Array.isArray(patch) ? 'array' : typeof patch;
  throw badRequestError(`error decoding patch: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`);
}

/** Few operations cost what they say; copies multiply. */
function isLongWork(operations: Json): boolean {
  return Array.isArray(operations) && (operations.length > 100 || operations.some((operation) => operation?.op === 'copy'));
}

interface Patched {
  patched: Json;
  body: ParsedBody;
  type: string;
  options: ParsedWriteOptions;
}

function decodePatched(resource: Resource, request: ApiRequest, parts: Patched): KubeObject | Promise<KubeObject> {
  const { patched, body, options } = parts;
  const { large } = request;
  try {
    return decodeBody(
      resource,
      { value: patched, duplicates: body.duplicates },
      options.fieldValidation,
      (text) => request.warnings.push(text),
      large,
    );
  } catch (error) {
    throw decodingFailure(error, parts);
  }
}

async function decodeLargePatched(resource: Resource, request: ApiRequest, parts: Patched): Promise<KubeObject> {
  await breathe();
  // Patches add up: what they made is held to the limit of a body.
  await refuseExcess(resource, request, parts.patched);
  let draft: KubeObject;
  try {
    draft = await decodePatched(resource, request, parts);
  } catch (error) {
    throw decodingFailure(error, parts);
  }
  await breathe();
  return draft;
}

function decodingFailure(error: unknown, { patched, body, type }: Patched): unknown {
  return patchFailure(error, patched, type === STRATEGIC_PATCH ? body.value : undefined);
}

async function apply(
  core: ServerCore,
  resource: Resource,
  request: ApiRequest,
  subresource: string,
  body: ParsedBody,
  options: ParsedWriteOptions,
): Promise<ApiResponse> {
  const config = configurationOf(body);
  const apply = (live: KubeObject | undefined): KubeObject | Promise<KubeObject> => {
    const how: ApplyOptions = {
      manager: options.fieldManager!,
      force: options.force === true,
      resource,
      subresource,
      now: core.now,
    };
    const finish = (applied: KubeObject): KubeObject => {
      reportRepeatedKeys(request, body, options);
      return applied;
    };
    if (!request.large)
      return finish(applyConfiguration(live, config, how, (object) => resource.strategy.decode(object, resource.version)));
    return runInSlices(applySteps(live, config, how)).then(async (draft) => {
      const applied = draft.finish(draft.unchanged ? draft.object : await decodeAdmitted(resource, draft.object, true));
      await refuseExcess(resource, request, applied);
      return finish(applied);
    });
  };
  const updated = await updateObject(core, resource, request, {
    options,
    subresource,
    retryOnConflict: !config.metadata.resourceVersion,
    change: (old) => apply(old),
    createInstead:
      subresource !== ''
        ? undefined
        : async () => {
            if (config.metadata.uid) {
              throw failure(
                'Conflict',
                `uid mismatch: the provided object specified uid ${config.metadata.uid}, and no existing object was found`,
                undefined,
                409,
              );
            }
            const draft = await apply(undefined);
            if (!draft.metadata.name) {
              throw badRequestError(`the name of the object (${request.info.name} based on URL) was undeterminable: name must be provided`);
            }
            wipeSystemFields(draft.metadata);
            fitNamespace(resource, draft, request.info.namespace);
            fitToPath(resource, request, draft);
            return createObject(core, resource, request, draft, { ...options, kind: 'CreateOptions' });
          },
  });
  return updatedResponse(core, resource, request, updated);
}

/** An applied configuration stays as sparse as the client wrote it: kind and fields are checked when it is merged. */
function configurationOf({ value }: ParsedBody): KubeObject {
  if (typeof value !== 'object' || Array.isArray(value)) {
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    throw badRequestError(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    );
  }
  const config = (value ?? {}) as KubeObject;
  config.metadata ??= {};
  return config;
}

/** Kubernetes looks for them after the merge, so a conflict or an unknown field is told first. */
function reportRepeatedKeys(request: ApiRequest, { duplicates }: ParsedBody, options: ParsedWriteOptions): void {
  for (const text of duplicates) {
    const finding = `error converting YAML to JSON: ${text}`;
    if (options.fieldValidation === 'Strict') throw badRequestError(`error strict decoding YAML: ${finding}`);
    if (options.fieldValidation !== 'Ignore') request.warnings.push(finding);
  }
}
