import type { Client } from '../../../client/client.ts';
import type { DiscoveredResource } from '../../../client/discovery.ts';
import { quote } from '../../../kube/go-text.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { clientText } from './client-text.ts';

/** What is served rarely changes, and no watch tells of it: looked at again after this long, or when a kind is not known. */
const DISCOVERY_MS = 30_000;
const MISS_MS = 1000;
const CONFLICT_RETRIES = 5;

export interface ScaleTargetReference {
  apiVersion?: string;
  kind: string;
  name: string;
}

/** Whatever has a `scale` subresource. All methods throw Errors in the words of kube-controller-manager. */
export class ScaleTargets {
  readonly #client: Client;
  #known: { resources: Promise<DiscoveredResource[]>; at: number } | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** The preferred resource of a kind. */
  async find(group: string, kind: string): Promise<DiscoveredResource> {
    const search = async () => (await this.#resources()).find((one) => one.group === group && one.kind === kind && one.preferred);
    let found = await search();
    if (!found && this.#forget(MISS_MS)) found = await search();
    if (!found) throw new Error(`no matches for kind ${quote(kind)} in group ${quote(group)}`);
    return found;
  }

  async scaleOf(namespace: string, { apiVersion = '', kind, name }: ScaleTargetReference): Promise<Scale> {
    const resource = await this.find(groupOf(apiVersion), kind);
    const scales = this.#client.resource<KubeObject>(resource, namespace).subresource<KubeObject>('scale');
    const read = async (): Promise<KubeObject> => {
      try {
        return await scales.get(name);
      } catch (error) {
        throw new Error(clientText(error, `get ${resource.plural} ${name}`), { cause: error });
      }
    };
    return new Scale(await read(), read, (scale) => scales.update(name, scale));
  }

  #resources(): Promise<DiscoveredResource[]> {
    this.#forget(DISCOVERY_MS);
    this.#known ??= { resources: this.#client.discovery.resources().then(({ resources }) => resources), at: this.#client.clock.now() };
    const { resources } = this.#known;
    resources.catch(() => (this.#known = undefined));
    return resources;
  }

  /** @returns whether what is known was that old and is forgotten now. */
  #forget(olderThanMs: number): boolean {
    if (!this.#known || this.#client.clock.now() - this.#known.at < olderThanMs) return false;
    this.#known = undefined;
    return true;
  }
}

/** @throws Error when it is no group and version */
function groupOf(apiVersion: string): string {
  if (apiVersion === '' || apiVersion === '/') return '';
  const parts = apiVersion.split('/');
  if (parts.length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  return parts.length === 2 ? parts[0] : '';
}

export class Scale {
  #scale: KubeObject;
  readonly #read: () => Promise<KubeObject>;
  readonly #write: (scale: KubeObject) => Promise<unknown>;

  constructor(scale: KubeObject, read: () => Promise<KubeObject>, write: (scale: KubeObject) => Promise<unknown>) {
    this.#scale = scale;
    this.#read = read;
    this.#write = write;
  }

  get specReplicas(): number {
    return this.#scale.spec?.replicas ?? 0;
  }

  get statusReplicas(): number {
    return this.#scale.status?.replicas ?? 0;
  }

  /** In the query syntax; empty when the target has none. */
  get selector(): string {
    return this.#scale.status?.selector ?? '';
  }

  /** Who was faster is overruled: what the target has become is looked at in the next pass. */
  async resize(replicas: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const next: Json = { ...this.#scale, spec: { ...this.#scale.spec, replicas } };
      try {
        await this.#write(next);
        return;
      } catch (error) {
        if (!isStatusError(error, 'Conflict') || attempt === CONFLICT_RETRIES) throw error;
        this.#scale = await this.#read();
      }
    }
  }
}
