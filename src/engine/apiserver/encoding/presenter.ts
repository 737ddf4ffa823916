import { toApiVersion, type Json, type KubeObject, type ListMeta } from '../../../kube/object.ts';
import type { Entry } from '../../store/store.ts';
import type { ObjectCache } from '../registry/object-cache.ts';
import type { Resource } from '../registry/resource.ts';
import { encodeJson } from './json.ts';

export type Maybe<T> = T | Promise<T>;

/** One representation of a resource's objects: how an object looks alone, inside a list, and what surrounds the list. */
export interface Presenter {
  /** Names the representation: equal ids give equal bytes for the same entry. */
  readonly id: string;
  /** Items are the stored bytes themselves, so a list's size is known before it is written. */
  readonly verbatim: boolean;
  single(entry: Entry): Maybe<Uint8Array>;
  item(entry: Entry): Maybe<Uint8Array>;
  singleValue(entry: Entry): Maybe<Json>;
  itemValue(entry: Entry): Maybe<Json>;
  /** The JSON text before the first item; the text behind the last one closes it. */
  head(meta: ListMeta): string;
  readonly tail: string;
  listValue(meta: ListMeta, items: Json[]): Json;
  bookmark(revision: string, annotations?: Record<string, string>): Json;
}

/** Brings stored objects to the version of the request. Kinds whose stored form is the served one answer with the stored bytes. */
export class VersionedReader {
  readonly #resource: Resource;
  readonly #cache: ObjectCache;
  readonly #converted = new WeakMap<Entry, Uint8Array>();

  constructor(resource: Resource, cache: ObjectCache) {
    this.#resource = resource;
    this.#cache = cache;
  }

  object(entry: Entry): Maybe<KubeObject> {
    const object = this.#cache.object(entry);
    return this.#resource.fromStorage === undefined ? object : this.#resource.fromStorage(structuredClone(object));
  }

  bytes(entry: Entry): Maybe<Uint8Array> {
    if (this.#resource.fromStorage === undefined) return entry.bytes;
    return this.#converted.get(entry) ?? after(this.object(entry), (object) => this.#remember(entry, object));
  }

  #remember(entry: Entry, object: KubeObject): Uint8Array {
    const bytes = encodeJson(JSON.stringify(object));
    this.#converted.set(entry, bytes);
    return bytes;
  }
}

/** `then` without a promise when there is none. */
export function after<T, R>(value: Maybe<T>, next: (value: T) => R): Maybe<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

function metadataBookmark(apiVersion: string, kind: string, revision: string, annotations?: Record<string, string>): Json {
  const metadata: Json = { resourceVersion: revision };
  if (annotations !== undefined) metadata.annotations = annotations;
  return { apiVersion, kind, metadata };
}

function listMetaText(meta: ListMeta): string {
  return JSON.stringify(meta);
}

export function wholePresenter(resource: Resource, cache: ObjectCache): Presenter {
  const reader = new VersionedReader(resource, cache);
  const apiVersion = toApiVersion(resource.group, resource.version);
  return {
    id: apiVersion,
    verbatim: resource.fromStorage === undefined,
    single: (entry) => reader.bytes(entry),
    item: (entry) => reader.bytes(entry),
    singleValue: (entry) => reader.object(entry),
    itemValue: (entry) => reader.object(entry),
    head: (meta) => `{"kind":"${resource.listKind}","apiVersion":"${apiVersion}","metadata":${listMetaText(meta)},"items":[`,
    tail: ']}\n',
    listValue: (metadata, items) => ({ kind: resource.listKind, apiVersion, metadata, items }),
    bookmark: (revision, annotations) => metadataBookmark(apiVersion, resource.kind, revision, annotations),
  };
}

export function partialMetadata(object: KubeObject, metaVersion: string): Json {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${metaVersion}`, metadata: object.metadata };
}

export function metadataPresenter(resource: Resource, cache: ObjectCache, metaVersion: string): Presenter {
  const reader = new VersionedReader(resource, cache);
  const apiVersion = `meta.k8s.io/${metaVersion}`;
  const value = (entry: Entry) => after(reader.object(entry), (object) => partialMetadata(object, metaVersion));
  const bytes = (entry: Entry) => after(value(entry), (partial) => encodeJson(JSON.stringify(partial)));
  return {
    id: `${resource.version}/PartialObjectMetadata/${metaVersion}`,
    verbatim: false,
    single: bytes,
    item: bytes,
    singleValue: value,
    itemValue: value,
    head: (meta) => `{"kind":"PartialObjectMetadataList","apiVersion":"${apiVersion}","metadata":${listMetaText(meta)},"items":[`,
    tail: ']}\n',
    listValue: (metadata, items) => ({ kind: 'PartialObjectMetadataList', apiVersion, metadata, items }),
    bookmark: (revision, annotations) => metadataBookmark(apiVersion, 'PartialObjectMetadata', revision, annotations),
  };
}
