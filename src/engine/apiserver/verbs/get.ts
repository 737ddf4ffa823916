import { notFoundError } from '../../../kube/status.ts';
import type { ApiRequest, ApiResponse } from '../chain/request.ts';
import { storageKey } from '../registry/keys.ts';
import type { Resource } from '../registry/resource.ts';
import type { ServerCore } from './core.ts';
import { entryResponse, presenterFor } from './presentation.ts';
import { refuseFutureRevision } from './revisions.ts';

export function get(core: ServerCore, resource: Resource, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const { namespace, name } = request.info;
  refuseFutureRevision(core.store, request.query.get('resourceVersion'));
  const entry = core.store.get(storageKey(resource, namespace, name));
  if (entry === undefined) throw notFoundError(resource, name);
  return entryResponse(200, entry, presenterFor(core, resource, request));
}
