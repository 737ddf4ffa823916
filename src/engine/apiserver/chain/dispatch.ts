import { failure } from '../../../kube/status.ts';
import type { ObjectWriter } from '../registry/objects.ts';
import type { Resource, Subresource } from '../registry/resource.ts';
import { bind } from '../subresources/binding.ts';
import { evict } from '../subresources/eviction.ts';
import { scale } from '../subresources/scale.ts';
import type { ServerCore } from '../verbs/core.ts';
import { create } from '../verbs/create.ts';
import { deleteOne } from '../verbs/delete.ts';
import { deleteCollection } from '../verbs/delete-collection.ts';
import { get } from '../verbs/get.ts';
import { list } from '../verbs/list.ts';
import { patch } from '../verbs/patch.ts';
import { put } from '../verbs/put.ts';
import { watch } from '../verbs/watch.ts';
import type { ApiRequest, ApiResponse } from './request.ts';

export type Answer = ApiResponse | Promise<ApiResponse>;
export type RequestHandler = (request: ApiRequest, resource: Resource) => Answer;

/** Where a resource request goes once it is authenticated and authorized. */
export interface Routes {
  core: ServerCore;
  objects: ObjectWriter;
  /** Resources that are answered and not stored, by `group/resource`: reviews. */
  virtual: Map<string, RequestHandler>;
  /** Subresources with a meaning of their own, by `group/resource/subresource`. */
  subresources: Map<string, RequestHandler>;
}

export function notFoundPath(): Error {
  return failure('NotFound', 'the server could not find the requested resource', {});
}

function methodNotAllowed(): Error {
  return failure('MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

/** The subresources that every server has. */
export function standardSubresources(core: ServerCore, objects: ObjectWriter): Map<string, RequestHandler> {
  const assign: RequestHandler = (request) => bind(objects, core.now, request);
  return new Map<string, RequestHandler>([
    ['/pods/binding', assign],
    ['/pods/eviction', (request, pods) => evict(core, objects, pods, request)],
  ]);
}

/** Not announced any more while a definition is deleted, and still answered. */
const SERVED_TO_THE_END = new Set(['create', 'update', 'patch']);
const NEEDS_NAME = new Set(['get', 'update', 'patch', 'delete']);

export function dispatchResource(routes: Routes, request: ApiRequest): Answer {
  const { info } = request;
  const resource = routes.core.catalog.find(info.group, info.version, info.resource);
  if (resource === undefined) throw notFoundPath();
  if (resource.warning !== undefined) request.warnings.push(resource.warning);
  if (info.subresource !== '') return dispatchSubresource(routes, request, resource);
  const virtual = routes.virtual.get(`${info.group}/${info.resource}`);
  if (virtual !== undefined) {
    if (info.verb !== 'create') throw methodNotAllowed();
    return virtual(request, resource);
  }
  if (!resource.verbs.includes(info.verb) && !(resource.terminating === true && SERVED_TO_THE_END.has(info.verb))) throw methodNotAllowed();
  if (info.name === '' && NEEDS_NAME.has(info.verb)) throw methodNotAllowed();
  // Only lists and watches may span namespaces; anything with a name needs to know whose.
  if (resource.namespaced && info.namespace === '' && info.verb !== 'list' && info.verb !== 'watch') throw methodNotAllowed();
  return dispatchVerb(routes, request, resource);
}

function dispatchVerb({ core }: Routes, request: ApiRequest, resource: Resource): Answer {
  switch (request.info.verb) {
    case 'get':
      return get(core, resource, request);
    case 'list':
      return list(core, resource, request);
    case 'watch':
      return watch(core, resource, request);
    case 'create':
      // Custom resources may also be created at the address of the object to be, which their clients do; only the body names it.
      if (request.info.name !== '' && resource.strategicMerge !== false) throw methodNotAllowed();
      return create(core, resource, request);
    case 'update':
      return put(core, resource, request);
    case 'patch':
      return patch(core, resource, request);
    case 'delete':
      return deleteOne(core, resource, request);
    case 'deletecollection':
      return deleteCollection(core, resource, request);
    default:
      throw methodNotAllowed();
  }
}

function dispatchSubresource(routes: Routes, request: ApiRequest, resource: Resource): Answer {
  const { info } = request;
  const subresource = resource.subresources.find((candidate) => candidate.name === info.subresource);
  if (subresource === undefined) throw notFoundPath();
  // What is proxied may be asked with any method, also those that are no verb here.
  if (!subresource.verbs.includes(info.verb) && subresource.name !== 'proxy') throw methodNotAllowed();
  const special = routes.subresources.get(`${info.group}/${info.resource}/${info.subresource}`);
  if (special !== undefined) return special(request, resource);
  if (subresource.name === 'scale') return scale(routes.core, resource, request);
  if (!hasShapeOf(resource, subresource)) {
    throw failure(
      'ServiceUnavailable',
      `Cannot reach ${info.resource} "${info.name}" for ${info.subresource}: no node serves it; start a node first`,
      {},
    );
  }
  switch (info.verb) {
    case 'get':
      return get(routes.core, resource, request);
    case 'update':
      return put(routes.core, resource, request, info.subresource);
    case 'patch':
      return patch(routes.core, resource, request, info.subresource);
    default:
      throw methodNotAllowed();
  }
}

/** `status`, `approval`, `finalize` and the like carry the whole object. */
function hasShapeOf(resource: Resource, subresource: Subresource): boolean {
  return subresource.kind.kind === resource.kind;
}
