import { invalid } from '../../../kube/field-error.ts';
import { applyJsonPatch } from '../../../kube/json-patch.ts';
import { applyMergePatch } from '../../../kube/merge-patch.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { badRequestError, failure, invalidError, notFoundError } from '../../../kube/status.ts';
import { trackUpdate } from '../apply/track-update.ts';
import { objectResponse, type ApiRequest, type ApiResponse } from '../chain/request.ts';
import { storageKey } from '../registry/keys.ts';
import type { Resource, ScaleAccess } from '../registry/resource.ts';
import { mediaType, parseJson, readBody } from '../verbs/body.ts';
import type { ServerCore } from '../verbs/core.ts';
import { servedObject, updateObject } from '../verbs/update.ts';
import { fieldManagerOf, writeOptions } from '../verbs/write-options.ts';

/** autoscaling/v1 Scale of any kind that has replicas: the one view through which autoscalers and `kubectl scale` see them all. */
export async function scale(core: ServerCore, resource: Resource, request: ApiRequest): Promise<ApiResponse> {
  const access = resource.scale;
  if (access === undefined) throw notFoundError(resource, request.info.name);
  if (request.method === 'GET') return getScale(core, resource, request, access);
  const isPatch = request.method === 'PATCH';
  const options = writeOptions(request, isPatch ? 'PatchOptions' : 'UpdateOptions');
  const change = isPatch ? await readScalePatch(request) : await readScale(request);
  let replicas = 0;
  const updated = await updateObject(core, resource, request, {
    options,
    subresource: 'scale',
    retryOnConflict: true,
    change: (old) => {
      const scaled = change(scaleOf(access, old));
      replicas = checkedReplicas(request.info.name, scaled);
      const draft = structuredClone(old);
      const revision = scaled.metadata?.resourceVersion;
      if (revision) draft.metadata.resourceVersion = revision;
      else delete draft.metadata.resourceVersion;
      if (scaled.metadata?.uid) draft.metadata.uid = scaled.metadata.uid;
      access.setSpecReplicas(draft, replicas);
      trackUpdate(old, draft, { manager: fieldManagerOf(options, request), resource, subresource: 'scale', now: core.now });
      return draft;
    },
  });
  const object = 'object' in updated ? updated.object : await servedObject(core, resource, updated.entry);
  return objectResponse(200, scaleOf(access, object));
}

async function getScale(core: ServerCore, resource: Resource, request: ApiRequest, access: ScaleAccess): Promise<ApiResponse> {
  const { namespace, name } = request.info;
  const entry = core.store.get(storageKey(resource, namespace, name));
  if (entry === undefined) throw notFoundError(resource, name);
  return objectResponse(200, scaleOf(access, await servedObject(core, resource, entry)));
}

function scaleOf(access: ScaleAccess, object: KubeObject): Json {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = access.selector(object);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: access.specReplicas(object) ? { replicas: access.specReplicas(object) } : {},
    status: { replicas: access.statusReplicas(object), ...(selector === '' ? {} : { selector }) },
  };
}

async function readScale(request: ApiRequest): Promise<(current: Json) => Json> {
  const { value } = await readBody(request);
  if (value === null || typeof value !== 'object' || (value.kind !== undefined && value.kind !== 'Scale')) {
    throw badRequestError('invalid object passed to scale subresource: expected a Scale of autoscaling/v1');
  }
  return () => value;
}

async function readScalePatch(request: ApiRequest): Promise<(current: Json) => Json> {
  const type = mediaType(request.body.contentType);
  const body = await request.body.read();
  const value = 'value' in body ? body.value : (await parseJson(body.bytes, request)).value;
  switch (type) {
    case 'application/json-patch+json':
      return (current) => applyJsonPatch(current, value);
    case 'application/merge-patch+json':
    case 'application/strategic-merge-patch+json':
      return (current) => applyMergePatch(current, value);
    case 'application/apply-patch+yaml':
      return (current) => applyMergePatch(current, { spec: value.spec ?? {} });
    default:
      throw failure(
        'UnsupportedMediaType',
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
        {},
      );
  }
}

function checkedReplicas(name: string, scaled: Json): number {
  const replicas: unknown = scaled?.spec?.replicas ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    throw badRequestError(
      `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  }
  if (replicas < 0) {
    throw invalidError({ group: 'autoscaling', kind: 'Scale' }, name, [
      invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  }
  return replicas;
}
