import { isStatusError } from '../../../kube/status.ts';
import type { ApiRequest, ApiResponse } from '../chain/request.ts';
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
  options: Awaited<ReturnType<typeof readDeleteOptions>>,
): Promise<void> {
  const { name = '', namespace = '' } = core.cache.object(entry).metadata;
  try {
    await deleteObject(core, resource, request, namespace, name, options);
  } catch (error) {
    // Somebody else was faster: that is what was asked for.
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
