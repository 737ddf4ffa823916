import type { KubeObject } from '../../../kube/object.ts';
import type { ObjectReader } from '../registry/objects.ts';
import { API_SERVICES, toRemoteApi, type RemoteApi } from './api-service.ts';

/** Which versions of which groups other servers serve: what routing looks at for every request. */
export class ApiTable {
  readonly #reader: ObjectReader;
  #byVersion: Map<string, RemoteApi> | undefined;

  constructor(reader: ObjectReader) {
    this.#reader = reader;
    reader.onChange(API_SERVICES, ({ type, object }) => this.#apply(object, type !== 'DELETED'));
  }

  /** For `/apis/<group>/<version>` and everything below it. */
  forPath(path: string): RemoteApi | undefined {
    const table = this.#byVersion ?? this.#load();
    if (table.size === 0 || !path.startsWith('/apis/')) return undefined;
    const groupEnd = path.indexOf('/', '/apis/'.length);
    if (groupEnd < 0) return undefined;
    let versionEnd = path.indexOf('/', groupEnd + 1);
    if (versionEnd < 0) versionEnd = path.length;
    return table.get(path.slice('/apis/'.length, versionEnd));
  }

  get(name: string): RemoteApi | undefined {
    return this.all().find((api) => api.name === name);
  }

  all(): RemoteApi[] {
    return [...(this.#byVersion ?? this.#load()).values()];
  }

  #load(): Map<string, RemoteApi> {
    this.#byVersion = new Map();
    for (const apiService of this.#reader.list(API_SERVICES)) this.#apply(apiService, true);
    return this.#byVersion;
  }

  #apply(apiService: KubeObject, present: boolean): void {
    if (!this.#byVersion) return;
    const api = present ? toRemoteApi(apiService) : undefined;
    const key = `${apiService.spec?.group ?? ''}/${apiService.spec?.version ?? ''}`;
    if (api) this.#byVersion.set(key, api);
    else this.#byVersion.delete(key);
  }
}
