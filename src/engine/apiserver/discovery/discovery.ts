import { createHash } from 'node:crypto';
import { toApiVersion, type Json } from '../../../kube/object.ts';
import { textResponse, type ApiRequest, type ApiResponse } from '../chain/request.ts';
import { compareVersions } from '../crd/version-order.ts';
import type { Catalog } from '../registry/catalog.ts';
import type { Resource } from '../registry/resource.ts';

/** One version of a group that another server serves, as the aggregator learned it. */
export interface ForeignVersion {
  group: string;
  version: string;
  /** Entries of APIResourceList.resources. */
  resources: Json[];
  /** False while its server does not answer. */
  current: boolean;
}

/** Answers for `/api`, `/apis` and below: what there is, in the old form and in the aggregated one. Encoded once per change. */
export class Discovery {
  readonly #catalog: Catalog;
  readonly #foreign: () => readonly ForeignVersion[];
  #cached: { generation: number; foreign: readonly ForeignVersion[]; documents: Map<string, Document> } | undefined;

  constructor(catalog: Catalog, foreign: () => readonly ForeignVersion[] = () => []) {
    this.#catalog = catalog;
    this.#foreign = foreign;
  }

  /** Undefined when the path is none of discovery's. */
  answer(path: string, request: Pick<ApiRequest, 'headers'>): ApiResponse | undefined {
    const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    const aggregated = (trimmed === '/api' || trimmed === '/apis') && acceptsAggregated(request.headers.accept);
    const document = this.#document(aggregated === undefined || aggregated === false ? trimmed : `${trimmed}?aggregated=${aggregated}`);
    if (document === undefined) return undefined;
    if (request.headers['if-none-match'] === document.etag && aggregated) {
      return {
        status: 304,
        headers: { etag: document.etag, vary: 'Accept' },
        body: { kind: 'raw', contentType: document.type, bytes: new Uint8Array(0) },
      };
    }
    const headers: Record<string, string> = aggregated ? { etag: document.etag, vary: 'Accept' } : { vary: 'Accept' };
    return { status: 200, headers, body: rawOrObject(document) };
  }

  groups(): { group: string; versions: string[] }[] {
    const byGroup = new Map<string, Set<string>>();
    const add = (group: string, version: string) => {
      let versions = byGroup.get(group);
      if (versions === undefined) byGroup.set(group, (versions = new Set<string>()));
      versions.add(version);
    };
    for (const resource of this.#catalog.all()) add(resource.group, resource.version);
    for (const foreign of this.#foreign()) add(foreign.group, foreign.version);
    return [...byGroup].map(([group, versions]) => ({ group, versions: [...versions].sort((a, b) => compareVersions(b, a)) }));
  }

  #document(key: string): Document | undefined {
    const foreign = this.#foreign();
    if (this.#cached?.generation !== this.#catalog.generation || this.#cached.foreign !== foreign) {
      this.#cached = { generation: this.#catalog.generation, foreign, documents: new Map() };
    }
    const { documents } = this.#cached;
    const known = documents.get(key);
    if (known !== undefined) return known;
    const value = this.#build(key);
    if (value === undefined) return undefined;
    const document = encode(value, key);
    documents.set(key, document);
    return document;
  }

  #build(key: string): Json {
    const aggregated = /^\/(apis?)\?aggregated=(.+)$/.exec(key);
    if (aggregated !== null) return this.#aggregated(aggregated[1] === 'api', aggregated[2]);
    if (key === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
    if (key === '/apis') {
      const groups = this.groups().filter(({ group }) => group !== '');
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(apiGroup) };
    }
    const parts = key.split('/');
    if (key === '/api/v1') return this.#resourceList('', 'v1');
    if (parts[1] !== 'apis') return undefined;
    if (parts.length === 3) {
      const found = this.groups().find(({ group }) => group === parts[2] && group !== '');
      return found && { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(found) };
    }
    return parts.length === 4 ? this.#resourceList(parts[2], parts[3]) : undefined;
  }

  #resourceList(group: string, version: string): Json {
    const resources = this.#catalog.inVersion(group, version);
    const foreign = this.#foreign().find((candidate) => candidate.group === group && candidate.version === version);
    if (resources.length === 0 && foreign === undefined) return undefined;
    return {
      kind: 'APIResourceList',
      ...(group === '' ? {} : { apiVersion: 'v1' }),
      groupVersion: toApiVersion(group, version),
      resources: foreign?.resources ?? resources.flatMap(apiResources),
    };
  }

  #aggregated(core: boolean, version: string): Json {
    const items = this.groups()
      .filter(({ group }) => (group === '') === core)
      .map(({ group, versions }) => ({
        metadata: group === '' ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
        versions: versions.map((v) => this.#versionDiscovery(group, v)),
      }));
    return { kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {}, items };
  }

  #versionDiscovery(group: string, version: string): Json {
    const foreign = this.#foreign().find((candidate) => candidate.group === group && candidate.version === version);
    if (foreign !== undefined) {
      return { version, resources: fromLegacy(foreign), freshness: foreign.current ? 'Current' : 'Stale' };
    }
    return { version, resources: this.#catalog.inVersion(group, version).map(resourceDiscovery), freshness: 'Current' };
  }
}

interface Document {
  value: Json;
  bytes: Uint8Array;
  etag: string;
  type: string;
}

function encode(value: Json, key: string): Document {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  const etag = `"${createHash('sha256').update(bytes).digest('hex').toUpperCase()}"`;
  const version = /aggregated=(.+)$/.exec(key)?.[1];
  const type = version === undefined ? 'application/json' : `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  return { value, bytes, etag, type };
}

function rawOrObject(document: Document): ApiResponse['body'] {
  if (document.type === 'application/json') return { kind: 'object', bytes: () => document.bytes, value: () => document.value };
  return { kind: 'raw', contentType: document.type, bytes: document.bytes };
}

function acceptsAggregated(header: string | string[] | undefined): string | false {
  const accept = Array.isArray(header) ? header.join(',') : (header ?? '');
  if (!accept.includes('APIGroupDiscoveryList')) return false;
  for (const clause of accept.split(',')) {
    if (!clause.includes('as=APIGroupDiscoveryList') || !clause.includes('g=apidiscovery.k8s.io') || clause.includes('protobuf')) continue;
    const version = /v=(v2|v2beta1)(?:;|$)/.exec(clause.trim())?.[1];
    if (version !== undefined) return version;
  }
  return false;
}

function apiGroup({ group, versions }: { group: string; versions: string[] }): Json {
  const entries = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

function apiResources(resource: Resource): Json[] {
  const main: Json = {
    name: resource.resource,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: resource.verbs,
  };
  if (resource.shortNames.length > 0) main.shortNames = resource.shortNames;
  if (resource.categories.length > 0) main.categories = resource.categories;
  if (resource.verbs.includes('list')) main.storageVersionHash = storageVersionHash(resource);
  const subresources = resource.subresources.map((subresource) => ({
    name: `${resource.resource}/${subresource.name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...(subresource.kind.group === resource.group && subresource.kind.version === resource.version
      ? {}
      : { group: subresource.kind.group, version: subresource.kind.version }),
    kind: subresource.kind.kind,
    verbs: subresource.verbs,
  }));
  return [main, ...subresources];
}

function storageVersionHash({ storage, kind }: Resource): string {
  return createHash('sha256').update(`${storage.group}/${storage.version}/${kind}`).digest('base64').slice(0, 12);
}

function resourceDiscovery(resource: Resource): Json {
  const kind = { group: resource.group, version: resource.version, kind: resource.kind };
  const entry: Json = {
    resource: resource.resource,
    responseKind: kind,
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
  };
  if (resource.shortNames.length > 0) entry.shortNames = resource.shortNames;
  if (resource.categories.length > 0) entry.categories = resource.categories;
  if (resource.subresources.length > 0) {
    entry.subresources = resource.subresources.map(({ name, kind: responseKind, verbs }) => ({ subresource: name, responseKind, verbs }));
  }
  return entry;
}

function fromLegacy(foreign: ForeignVersion): Json[] {
  const kindOf = (entry: Json) => ({ group: entry.group || foreign.group, version: entry.version || foreign.version, kind: entry.kind });
  const tops = foreign.resources.filter((entry) => !entry.name.includes('/'));
  return tops.map((entry) => {
    const subresources = foreign.resources
      .filter((other) => other.name.startsWith(`${entry.name}/`))
      .map((other) => ({ subresource: other.name.slice(entry.name.length + 1), responseKind: kindOf(other), verbs: other.verbs }));
    return {
      resource: entry.name,
      responseKind: kindOf(entry),
      scope: entry.namespaced ? 'Namespaced' : 'Cluster',
      singularResource: entry.singularName ?? '',
      verbs: entry.verbs,
      ...(entry.shortNames ? { shortNames: entry.shortNames } : {}),
      ...(entry.categories ? { categories: entry.categories } : {}),
      ...(subresources.length > 0 ? { subresources } : {}),
    };
  });
}

export function pageNotFound(): ApiResponse {
  return textResponse(404, '404 page not found\n');
}
