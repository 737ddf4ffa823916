import type { GroupResource } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Admission } from '../admission/chain.ts';
import type { ApiRequest, ApiResponse } from '../chain/request.ts';
import { SUPERUSER_GROUP } from '../auth/user.ts';
import { storagePrefix } from '../registry/keys.ts';
import type { Resource } from '../registry/resource.ts';
import type { Entry } from '../../store/store.ts';
import { collect } from './collect.ts';
import type { ServerCore } from './core.ts';
import { deleteObject, readDeleteOptions } from './delete.ts';
import { listAnswer } from './list.ts';
import { validateListOptions } from './list-options.ts';
import { presenterFor } from './presentation.ts';
import { parseLimit } from './revisions.ts';
import { selectionOf } from './selection.ts';
import type { ParsedDeleteOptions } from './write-options.ts';

const PARALLEL = 32;

/** Deletes every selected object, each with the rules of a single delete. Answers with the list of what was selected. */
export async function deleteCollection(core: ServerCore, resource: Resource, request: ApiRequest): Promise<ApiResponse> {
  validateListOptions(request.query, false);
  const presenter = presenterFor(core, resource, request);
  const options = await readDeleteOptions(request);
  const selection = selectionOf(core, resource, request);
  const { entries, revision } = await collect(core.store, selection, { limit: parseLimit(request.query.get('limit')) });
  for (let start = 0; start < entries.length; start += PARALLEL) {
    await Promise.all(entries.slice(start, start + PARALLEL).map((entry) => deleteEntry(core, resource, request, entry, options)));
  }
  return { status: 200, body: { kind: 'list', list: listAnswer(presenter, { resourceVersion: String(revision) }, entries) } };
}

async function deleteEntry(
  core: ServerCore,
  resource: Resource,
  request: ApiRequest,
  entry: Entry,
  options: ParsedDeleteOptions,
): Promise<void> {
  const { name = '', namespace = '' } = core.cache.object(entry).metadata;
  try {
    await deleteObject(core, resource, request, namespace, name, options);
  } catch (error) {
    // Somebody else was faster: that is what was asked for.
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

const NO_ADMISSION: Admission = { mutate() {}, validate() {}, abandon() {} };

/** Deletes every object of a resource on behalf of the server itself: finalizers are respected, admission is not asked, as in Kubernetes. */
export async function deleteAllObjects(core: ServerCore, groupResource: GroupResource): Promise<void> {
  const resource = core.catalog.stored(groupResource);
  if (resource === undefined) return;
  const { entries } = await collect(core.store, { keyPrefix: storagePrefix(resource.storage), exact: false, identity: '' }, { limit: 0 });
  const request = serverRequest(resource);
  const unchecked: ServerCore = { ...core, admission: NO_ADMISSION };
  const options: ParsedDeleteOptions = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' };
  for (let start = 0; start < entries.length; start += PARALLEL) {
    await Promise.all(entries.slice(start, start + PARALLEL).map((entry) => deleteEntry(unchecked, resource, request, entry, options)));
  }
}

function serverRequest(resource: Resource): ApiRequest {
  const { group, version, resource: name } = resource;
  return {
    method: 'DELETE',
    info: {
      isResource: true,
      path: '',
      verb: 'deletecollection',
      group,
      version,
      resource: name,
      subresource: '',
      rest: '',
      namespace: '',
      name: '',
    },
    query: new URLSearchParams(),
    headers: {},
    user: { name: 'system:apiserver', groups: [SUPERUSER_GROUP] },
    body: { contentType: '', read: () => Promise.resolve({ value: undefined }) },
    signal: new AbortController().signal,
    warnings: [],
    auditAnnotations: {},
  };
}
