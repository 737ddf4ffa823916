import { MANAGED_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../client/client.ts';
import {
  Deployment,
  HorizontalPodAutoscaler,
  LimitRange,
  NetworkPolicy,
  ResourceQuota,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from '../../../client/kinds.ts';
import { isContained } from '../../../kube/is-contained.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { Part } from './model/target.ts';

export const FIELD_MANAGER = 'tenantry-plugins';

const KINDS: readonly Kind[] = [
  ResourceQuota,
  LimitRange,
  NetworkPolicy,
  ServiceAccount,
  Secret,
  Deployment,
  HorizontalPodAutoscaler,
  Service,
  RoleBinding,
];

/** The objects in the namespaces of plugins that the controllers keep. What is as it should be is not written. */
export class PluginObjects {
  readonly #client: Client;
  readonly #followed: ReadonlyMap<string, Informer>;

  constructor(client: Client, informers: SharedInformers) {
    this.#client = client;
    this.#followed = new Map(KINDS.map((kind) => [kind.kind, informers.get(kind, { labelSelector: MANAGED_LABEL })]));
    for (const informer of this.#followed.values()) informer.addIndex('part', partOf);
  }

  get informers(): Iterable<Informer> {
    return this.#followed.values();
  }

  informerOf({ kind }: Kind): Informer {
    return this.#followed.get(kind)!;
  }

  find<T extends KubeObject>({ kind }: Kind<T>, namespace: string, name: string): T | undefined {
    return this.#followed.get(kind)!.find(namespace, name) as T | undefined;
  }

  /** Makes these the objects of the kind that the part has in the namespace, and no others. */
  async keep(kind: Kind, namespace: string, part: Part, wanted: readonly KubeObject[]): Promise<void> {
    const existing = new Map(
      this.#followed
        .get(kind.kind)!
        .byIndex('part', `${namespace}/${part}`)
        .map((each) => [each.metadata.name, each]),
    );
    const names = new Set(wanted.map(({ metadata }) => metadata.name));
    await Promise.all(wanted.map((object) => this.#write(kind, namespace, object, existing.get(object.metadata.name))));
    await Promise.all([...existing.keys()].filter((name) => !names.has(name)).map((name) => this.#remove(kind, namespace, name!)));
  }

  async #write(kind: Kind, namespace: string, object: KubeObject, existing: KubeObject | undefined): Promise<void> {
    const resource = this.#client.resource<KubeObject>(kind, namespace);
    const isThere = isContained(object, existing);
    if (isThere && !(existing && hasMore(kind, existing, object))) return;
    // What somebody added would stay with an apply.
    if (isThere) await resource.update({ ...object, metadata: { ...existing!.metadata, ...object.metadata } });
    else await resource.apply(object, { fieldManager: FIELD_MANAGER, force: true });
  }

  async #remove(kind: Kind, namespace: string, name: string): Promise<void> {
    try {
      await this.#client.resource(kind, namespace).delete(name);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}

function partOf({ metadata }: KubeObject): string[] {
  return [`${metadata.namespace}/${metadata.labels![MANAGED_LABEL]}`];
}

/** A rule more is a hole; in objects of other kinds others may have fields of their own. */
function hasMore({ kind }: Kind, existing: KubeObject, wanted: KubeObject): boolean {
  return kind === NetworkPolicy.kind && !isContained({ spec: existing.spec }, { spec: wanted.spec });
}
