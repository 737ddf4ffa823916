import { copyInSlices } from '../../../kube/json-slices.ts';
import { deepCopy } from '../../../kube/json-value.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { trackUpdate, trackUpdateInSlices } from '../apply/track-update.ts';
import { objectResponse, type ApiRequest, type ApiResponse } from '../chain/request.ts';
import type { Resource } from '../registry/resource.ts';
import { runInSlices } from '../schema/slices.ts';
import { breathe } from './body-limits.ts';
import { decodeBody, readBody } from './body.ts';
import type { ServerCore } from './core.ts';
import { createObject } from './create.ts';
import { entryResponse, presenterFor } from './presentation.ts';
import { fitNamespace, wipeSystemFields } from './system-fields.ts';
import { fitToPath, updateObject, type Updated } from './update.ts';
import { fieldManagerOf, writeOptions } from './write-options.ts';

/** PUT of the whole object, or of one subresource that has the shape of its object (status, approval, finalize ...). */
export async function put(core: ServerCore, resource: Resource, request: ApiRequest, subresource = ''): Promise<ApiResponse> {
  const options = writeOptions(request, 'UpdateOptions');
  const body = await readBody(request, resource);
  const decoding = decodeBody(resource, body, options.fieldValidation, (text) => request.warnings.push(text), request.large);
  const object = decoding instanceof Promise ? await decoding : decoding;
  if (request.large) await breathe();
  fitToPath(resource, request, object);
  const manager = fieldManagerOf(options, request);
  const trackLarge = async (old: KubeObject): Promise<KubeObject> => {
    const draft: KubeObject = object.metadata.resourceVersion ? object : await runInSlices(copyInSlices(object));
    draft.metadata.managedFields ??= old.metadata.managedFields;
    await runInSlices(trackUpdateInSlices(old, draft, { manager, resource, subresource, now: core.now }));
    return draft;
  };
  const updated = await updateObject(core, resource, request, {
    options,
    subresource,
    retryOnConflict: !object.metadata.resourceVersion,
    change: (old) => {
      if (request.large) return trackLarge(old);
      // Only an update without a resourceVersion may be done again; that one must not see what this attempt made of the object.
      const draft = object.metadata.resourceVersion ? object : deepCopy(object);
      draft.metadata.managedFields ??= old.metadata.managedFields;
      trackUpdate(old, draft, { manager, resource, subresource, now: core.now });
      return draft;
    },
    createInstead:
      resource.strategy.allowCreateOnUpdate === true && subresource === ''
        ? () => {
            const draft = structuredClone(object);
            wipeSystemFields(draft.metadata);
            draft.metadata.name ??= request.info.name;
            fitNamespace(resource, draft, request.info.namespace);
            trackUpdate(undefined, draft, { manager, resource, subresource: '', now: core.now });
            return createObject(core, resource, request, draft, { ...options, kind: 'CreateOptions' });
          }
        : undefined,
  });
  return updatedResponse(core, resource, request, updated);
}

export function updatedResponse(
  core: ServerCore,
  resource: Resource,
  request: ApiRequest,
  updated: Updated,
): ApiResponse | Promise<ApiResponse> {
  const status = updated.created === true ? 201 : 200;
  if ('object' in updated) return objectResponse(status, updated.object);
  return entryResponse(status, updated.entry, presenterFor(core, resource, request));
}
