import { createHash } from 'node:crypto';
import { ADD_ON_HASH, ADD_ON_LABEL } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { Client } from '../../../client/client.ts';
import { ClusterRoleBinding, LimitRange, NetworkPolicy } from '../../../client/kinds.ts';
import { apiVersionOf, type Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { contains } from './contains.ts';

const FIELD_MANAGER = 'tenantry';
const KNOWN = [ClusterRoleBinding, LimitRange, NetworkPolicy] as unknown as Kind[];

/** Items of a list do not say it. */
const NOT_IN_LISTS = { apiVersion: undefined, kind: undefined };

interface Options {
  tenantClient: Client;
  informers: SharedInformers;
  /** One of them was changed, or is gone. */
  wake(): void;
}

/** What we put into a tenant's cluster, and whether it is as we left it. */
export class AppliedObjects {
  readonly #options: Options;
  /** By apiVersion and kind; those that are asked for at every start need no question. */
  readonly #kinds = new Map<string, Kind>(KNOWN.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]));
  readonly #watched = new Set<Informer>();
  /** What was applied, and what became of it: as long as that is there nothing has to be written. */
  readonly #applied = new Map<string, { wanted: string; resourceVersion: string | undefined }>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Server-side apply; from then on a change of it, or its end, is told. @returns whether it had to be written */
  async apply(manifest: KubeObject): Promise<boolean> {
    const kind = await this.#kindOf(manifest);
    const informer = this.#watch(kind);
    await informer.whenSynced();
    const id = idOf(kind, manifest);
    const wanted = JSON.stringify(manifest);
    const before = this.#applied.get(id);
    const existing = informer.get(keyOf(manifest));
    const isUntouched = before !== undefined && existing?.metadata.resourceVersion === before.resourceVersion;
    if (isUntouched && before.wanted === wanted) return false;
    const object = withHash(manifest, wanted);
    // Written before we were started: the hash says what was wanted then, and the rest that nobody has changed it since.
    const isWritten = before === undefined && existing !== undefined && contains(existing, { ...object, ...NOT_IN_LISTS });
    const { metadata } = isWritten ? existing : await this.#write(kind, object);
    this.#applied.set(id, { wanted, resourceVersion: metadata.resourceVersion });
    return !isWritten;
  }

  async #write(kind: Kind, object: KubeObject): Promise<KubeObject> {
    const resource = this.#options.tenantClient.resource(kind, object.metadata.namespace);
    try {
      return await resource.apply(object, { fieldManager: FIELD_MANAGER, force: true });
    } catch (error) {
      // Somebody put another in its place, with what cannot be changed, such as the role of a binding.
      if (!isStatusError(error, 'Invalid')) throw error;
      await resource.delete(object.metadata.name!).catch(() => {});
      return resource.apply(object, { fieldManager: FIELD_MANAGER, force: true });
    }
  }

  #watch(kind: Kind): Informer {
    const informer = this.#options.informers.get(kind, { labelSelector: ADD_ON_LABEL });
    if (!this.#watched.has(informer)) {
      this.#watched.add(informer);
      informer.onChange(({ type, object }) => {
        // Namespaces come and go as their administrators like, and what was in them with them.
        if (type === 'deleted') this.#applied.delete(idOf(kind, object));
        this.#options.wake();
      });
    }
    return informer;
  }

  async #kindOf({ apiVersion, kind }: KubeObject): Promise<Kind> {
    const id = `${apiVersion}/${kind}`;
    const known = this.#kinds.get(id);
    if (known) return known;
    const found = await this.#options.tenantClient.discovery.forKind(apiVersion, kind);
    if (found === undefined) throw new Error(`the cluster knows no ${kind} of ${apiVersion}`);
    this.#kinds.set(id, found);
    return found;
  }
}

function withHash({ metadata, ...rest }: KubeObject, text: string): KubeObject {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, [ADD_ON_HASH]: hash } } };
}

function idOf({ plural, group }: Kind, object: KubeObject): string {
  return `${plural}.${group}/${keyOf(object)}`;
}
