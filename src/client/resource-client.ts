import { apiVersionOf, resourcePath, type Kind } from '../kube/kind.ts';
import type { Json, KubeList, KubeObject, ObjectMeta } from '../kube/object.ts';
import type { Status } from '../kube/status.ts';
import { eachItem, wholeList, type FetchPage } from './list-pages.ts';
import { flag, labelSelectorText, type LabelSelector, type Query } from './query.ts';
import type { Requests } from './requests.ts';
import { APPLY_CONTENT_TYPE } from './retry.ts';
import type { TransportRequest } from './transport.ts';
import { resumableWatch, type WatchOptions, type WatchUpdate } from './watch.ts';

export interface CallOptions {
  signal?: AbortSignal;
}

export interface GetOptions extends CallOptions {
  resourceVersion?: string;
}

export interface ListOptions extends CallOptions {
  labelSelector?: LabelSelector;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface WriteOptions extends CallOptions {
  /** Who owns the fields that this write sets. */
  fieldManager?: string;
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** Go through everything but the store. */
  dryRun?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  /** Take fields over from other managers. */
  force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
}

export type Patch =
  | { type: 'merge'; patch: Json }
  | { type: 'strategic'; patch: Json }
  | { type: 'json'; patch: { op: string; path: string; value?: Json; from?: string }[] }
  | { type: 'apply'; patch: Json };

/** An object to write; apiVersion and kind are filled in from the handle's Kind when absent. */
export type Writable<T extends KubeObject> = T | { apiVersion?: string; kind?: string; metadata: ObjectMeta; [field: string]: Json };

const PATCH_CONTENT_TYPES: Record<Patch['type'], string> = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: APPLY_CONTENT_TYPE,
};

/** Objects per page where the caller does not say: what kubectl and client-go ask for. */
export const PAGE_SIZE = 500;

const METADATA_ACCEPT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST_ACCEPT = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/**
 * The verbs of one Kind, in one namespace or (without one) in all of them. Answers may be frozen and shared: copy before changing.
 * All methods throw StatusError for refusals and TransportError when there was no answer.
 */
export class ResourceClient<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly namespace: string | undefined;
  #requests: Requests;
  #metadataOnly: boolean;
  #path: string;

  constructor(requests: Requests, kind: Kind<T>, namespace?: string, metadataOnly = false) {
    this.#requests = requests;
    this.kind = kind;
    this.namespace = namespace;
    this.#metadataOnly = metadataOnly;
    this.#path = resourcePath(kind, namespace);
  }

  get(name: string, options: GetOptions = {}): Promise<T> {
    const query = { resourceVersion: options.resourceVersion };
    return this.#requests.send<T>({ method: 'GET', path: this.#at(name), query, headers: this.#accept(), signal: options.signal });
  }

  /** One page; `metadata.continue` leads to the next. */
  async list(options: ListOptions = {}): Promise<KubeList<T>> {
    const { signal, labelSelector, limit, ...rest } = options;
    const query: Query = {
      ...rest,
      labelSelector: labelSelectorText(labelSelector),
      limit: limit === undefined ? undefined : String(limit),
    };
    const headers = this.#metadataOnly ? { Accept: METADATA_LIST_ACCEPT } : undefined;
    const list = await this.#requests.send<KubeList<T>>({ method: 'GET', path: this.#path, query, headers, signal });
    // Go writes an empty list as null where nobody made one, as for PartialObjectMetadataList.
    return list.items ? list : { ...list, items: [] };
  }

  /** All objects as of one resourceVersion, fetched in pages. */
  listAll(options: Omit<ListOptions, 'continue'> = {}): Promise<KubeList<T>> {
    return wholeList(this.#pages(options), options.limit ?? PAGE_SIZE);
  }

  /** Each object once, one page in memory at a time. */
  items(options: Omit<ListOptions, 'continue'> = {}): AsyncGenerator<T, void, void> {
    return eachItem(this.#pages(options), options.limit ?? PAGE_SIZE);
  }

  watch(options: WatchOptions = {}): AsyncGenerator<WatchUpdate<T>, void, void> {
    return resumableWatch<T>(this.#requests, this.#path, this.#accept() ?? {}, options);
  }

  create(object: Writable<T>, options: WriteOptions = {}): Promise<T> {
    return this.#requests.send<T>({
      method: 'POST',
      path: this.#home(object.metadata),
      query: writeQuery(options),
      body: this.#typed(object),
      signal: options.signal,
    });
  }

  /** Replaces the object; its resourceVersion, when present, must be the newest. */
  update(object: T, options: WriteOptions = {}): Promise<T> {
    return this.#send<T>('PUT', this.#atObject(object.metadata), object, options);
  }

  patch(name: string, patch: Patch, options: WriteOptions & { force?: boolean } = {}): Promise<T> {
    return this.#patch(this.#at(name), patch, options);
  }

  /** Server-side apply: states the fields that this manager wants and leaves the rest to others. */
  apply(object: Writable<T>, options: ApplyOptions): Promise<T> {
    return this.#patch(this.#atObject(object.metadata), { type: 'apply', patch: this.#typed(object) }, options);
  }

  /** Resolves to the object while it still exists (finalizers, grace period), otherwise to a Status. */
  delete(name: string, options: DeleteOptions = {}): Promise<T | Status> {
    return this.#requests.send({ method: 'DELETE', path: this.#at(name), body: deleteBody(options), signal: options.signal });
  }

  deleteCollection(options: DeleteOptions & Pick<ListOptions, 'labelSelector' | 'fieldSelector'> = {}): Promise<KubeList<T> | Status> {
    const query = { labelSelector: labelSelectorText(options.labelSelector), fieldSelector: options.fieldSelector };
    return this.#requests.send({ method: 'DELETE', path: this.#path, query, body: deleteBody(options), signal: options.signal });
  }

  /** `status`, `scale`, `binding`, `eviction`, `token`, `approval`, ... Bodies are the parent's for `status` and their own Kinds otherwise. */
  subresource<S extends KubeObject = T>(name: string): SubresourceClient<S> {
    const at = (object: string): string => `${this.#at(object)}/${name}`;
    return {
      get: (object, options = {}) => this.#requests.send<S>({ method: 'GET', path: at(object), signal: options.signal }),
      create: (object, body, options = {}) => this.#send<S>('POST', at(object), body, options),
      update: (object, body, options = {}) => this.#send<S>('PUT', at(object), body, options),
      patch: (object, patch, options = {}) => this.#patch<S>(at(object), patch, options),
    };
  }

  get status(): SubresourceClient<T> {
    return this.subresource('status');
  }

  #pages(options: Omit<ListOptions, 'continue'>): FetchPage<T> {
    return (page) => {
      // A token already holds the version it continues; servers refuse both together.
      const rest = page.continue === undefined ? options : { ...options, resourceVersion: undefined, resourceVersionMatch: undefined };
      return this.list({ ...rest, limit: page.limit, continue: page.continue });
    };
  }

  #send<S>(method: TransportRequest['method'], path: string, body: unknown, options: WriteOptions): Promise<S> {
    return this.#requests.send<S>({ method, path, query: writeQuery(options), body, signal: options.signal });
  }

  #patch<S = T>(path: string, patch: Patch, options: WriteOptions & { force?: boolean }): Promise<S> {
    return this.#requests.send<S>({
      method: 'PATCH',
      path,
      query: { ...writeQuery(options), force: flag(options.force) },
      contentType: PATCH_CONTENT_TYPES[patch.type],
      body: patch.patch,
      headers: this.#accept(),
      signal: options.signal,
    });
  }

  #at(name: string): string {
    return `${this.#path}/${encodeURIComponent(name)}`;
  }

  /** A handle for all namespaces writes each object to its own. */
  #home(metadata: ObjectMeta): string {
    return this.namespace === undefined && metadata.namespace ? resourcePath(this.kind, metadata.namespace) : this.#path;
  }

  #atObject(metadata: ObjectMeta): string {
    return `${this.#home(metadata)}/${encodeURIComponent(metadata.name ?? '')}`;
  }

  #accept(): Record<string, string> | undefined {
    return this.#metadataOnly ? { Accept: METADATA_ACCEPT } : undefined;
  }

  #typed(object: Writable<T>): T {
    if (object.kind && object.apiVersion) return object as T;
    return { ...object, apiVersion: apiVersionOf(this.kind), kind: this.kind.kind } as T;
  }
}

export interface SubresourceClient<S extends KubeObject> {
  get(name: string, options?: CallOptions): Promise<S>;
  create<B extends KubeObject = S>(name: string, body: B, options?: WriteOptions): Promise<S>;
  update(name: string, body: S, options?: WriteOptions): Promise<S>;
  patch(name: string, patch: Patch, options?: WriteOptions & { force?: boolean }): Promise<S>;
}

function writeQuery(options: WriteOptions): Query {
  return {
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
    dryRun: options.dryRun ? 'All' : undefined,
  };
}

function deleteBody(options: DeleteOptions): Json {
  const body: Json = { apiVersion: 'v1', kind: 'DeleteOptions' };
  if (options.gracePeriodSeconds !== undefined) body.gracePeriodSeconds = options.gracePeriodSeconds;
  if (options.propagationPolicy) body.propagationPolicy = options.propagationPolicy;
  if (options.preconditions) body.preconditions = options.preconditions;
  if (options.dryRun) body.dryRun = ['All'];
  return body;
}
