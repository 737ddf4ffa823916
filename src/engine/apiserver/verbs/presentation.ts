import { badRequestError } from '../../../kube/status.ts';
import type { Entry } from '../../store/store.ts';
import type { ApiRequest, ApiResponse } from '../chain/request.ts';
import { negotiate } from '../encoding/accept.ts';
import { metadataPresenter, wholePresenter, type Presenter } from '../encoding/presenter.ts';
import { tablePresenter, type IncludeObject } from '../encoding/table-presenter.ts';
import type { Resource } from '../registry/resource.ts';
import type { ServerCore } from './core.ts';

const presenters = new WeakMap<Resource, Presenter>();

/** The representation the client asked for with its Accept header. */
export function presenterFor(core: ServerCore, resource: Resource, request: ApiRequest): Presenter {
  const accepted = negotiate(request.headers.accept);
  if (accepted.as === 'object') {
    let presenter = presenters.get(resource);
    if (presenter === undefined) presenters.set(resource, (presenter = wholePresenter(resource, core.cache)));
    return presenter;
  }
  if (accepted.as === 'PartialObjectMetadata') return metadataPresenter(resource, core.cache, accepted.metaVersion);
  return tablePresenter(resource, core.cache, {
    metaVersion: accepted.metaVersion,
    include: includeObject(request.query.get('includeObject')),
    noColumns: false,
    now: core.now,
  });
}

function includeObject(value: string | null): IncludeObject {
  switch (value) {
    case null:
    case '':
    case 'Metadata':
      return 'Metadata';
    case 'None':
    case 'Object':
      return value;
    default:
      throw badRequestError(`unrecognized includeObject value: "${value}"`);
  }
}

/** One stored object as the answer. */
export function entryResponse(
  status: number,
  entry: Entry,
  presenter: Presenter,
  headers?: Record<string, string>,
): ApiResponse | Promise<ApiResponse> {
  const bytes = presenter.single(entry);
  const respond = (encoded: Uint8Array): ApiResponse => ({
    status,
    headers,
    body: { kind: 'object', bytes: () => encoded, value: () => presenter.singleValue(entry) },
  });
  return bytes instanceof Promise ? bytes.then(respond) : respond(bytes);
}
