import type { Kind } from '../kube/kind.ts';
import { parseApiVersion, type Json } from '../kube/object.ts';
import type { Requests } from './requests.ts';

export interface DiscoveredResource extends Kind {
  verbs: string[];
  shortNames: string[];
  singular: string;
  subresources: string[];
  /** The server calls this version the preferred one of the group. */
  preferred: boolean;
}

export interface DiscoveryResult {
  resources: DiscoveredResource[];
  /** Group/versions whose server did not answer; what they serve is unknown, not gone. */
  failed: string[];
}

const AGGREGATED_ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/** What the server serves: two requests with aggregated discovery, one per group/version without. */
export class Discovery {
  #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  async resources(options: { signal?: AbortSignal } = {}): Promise<DiscoveryResult> {
    const [core, groups] = await Promise.all([this.#root('/api', options), this.#root('/apis', options)]);
    const result: DiscoveryResult = { resources: [], failed: [] };
    for (const answer of [core, groups]) {
      if (answer?.kind === 'APIGroupDiscoveryList') readAggregated(answer, result);
      else await this.#readLegacy(answer, result, options);
    }
    return result;
  }

  /** The preferred version of every resource. */
  async preferredResources(options: { signal?: AbortSignal } = {}): Promise<DiscoveryResult> {
    const { resources, failed } = await this.resources(options);
    return { resources: resources.filter((resource) => resource.preferred), failed };
  }

  /** The resource that serves a Kind, or undefined when nobody does. */
  async forKind(apiVersion: string, kind: string, options: { signal?: AbortSignal } = {}): Promise<DiscoveredResource | undefined> {
    const { group, version } = parseApiVersion(apiVersion);
    const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    let list: Json;
    try {
      list = await this.#requests.send<Json>({ method: 'GET', path: base, signal: options.signal });
    } catch (error) {
      if ((error as { code?: unknown }).code === 404) return undefined;
      throw error;
    }
    return readResourceList(list, group, version, true).find((resource) => resource.kind === kind);
  }

  #root(path: string, options: { signal?: AbortSignal }): Promise<Json> {
    return this.#requests.send<Json>({ method: 'GET', path, headers: { Accept: AGGREGATED_ACCEPT }, signal: options.signal });
  }

  async #readLegacy(answer: Json, result: DiscoveryResult, options: { signal?: AbortSignal }): Promise<void> {
    for (const { groupVersion, preferred } of legacyGroupVersions(answer)) {
      const { group, version } = parseApiVersion(groupVersion);
      const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      try {
        const list = await this.#requests.send<Json>({ method: 'GET', path, signal: options.signal });
        result.resources.push(...readResourceList(list, group, version, preferred));
      } catch (error) {
        if (options.signal?.aborted) throw error;
        result.failed.push(groupVersion);
      }
    }
  }
}

function legacyGroupVersions(answer: Json): { groupVersion: string; preferred: boolean }[] {
  if (answer?.kind === 'APIVersions') {
    return (answer.versions ?? []).map((version: string, i: number) => ({ groupVersion: version, preferred: i === 0 }));
  }
  return (answer?.groups ?? []).flatMap((group: Json) =>
    (group.versions ?? []).map((version: Json) => ({
      groupVersion: version.groupVersion,
      preferred: version.groupVersion === group.preferredVersion?.groupVersion,
    })),
  );
}

function readResourceList(list: Json, group: string, version: string, preferred: boolean): DiscoveredResource[] {
  const found = new Map<string, DiscoveredResource>();
  const entries: Json[] = list?.resources ?? [];
  for (const entry of entries) {
    if (entry.name.includes('/')) continue;
    found.set(entry.name, {
      group: entry.group || group,
      version: entry.version || version,
      kind: entry.kind,
      plural: entry.name,
      namespaced: entry.namespaced === true,
      verbs: entry.verbs ?? [],
      shortNames: entry.shortNames ?? [],
      singular: entry.singularName ?? '',
      subresources: [],
      preferred,
    });
  }
  for (const entry of entries) {
    const [parent, ...rest] = entry.name.split('/');
    if (rest.length > 0) found.get(parent)?.subresources.push(rest.join('/'));
  }
  return [...found.values()];
}

function readAggregated(answer: Json, result: DiscoveryResult): void {
  for (const item of answer.items ?? []) {
    const group: string = item.metadata?.name ?? '';
    // Versions come in the order of the server's preference.
    (item.versions ?? []).forEach((entry: Json, index: number) => {
      if (entry.freshness === 'Stale') result.failed.push(group === '' ? entry.version : `${group}/${entry.version}`);
      for (const resource of entry.resources ?? [])
        result.resources.push(readAggregatedResource(resource, group, entry.version, index === 0));
    });
  }
}

function readAggregatedResource(resource: Json, group: string, version: string, preferred: boolean): DiscoveredResource {
  return {
    group: resource.responseKind?.group || group,
    version: resource.responseKind?.version || version,
    kind: resource.responseKind?.kind ?? '',
    plural: resource.resource,
    namespaced: resource.scope === 'Namespaced',
    verbs: resource.verbs ?? [],
    shortNames: resource.shortNames ?? [],
    singular: resource.singularResource ?? '',
    subresources: (resource.subresources ?? []).map((sub: Json) => sub.subresource),
    preferred,
  };
}
