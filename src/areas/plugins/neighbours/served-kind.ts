import { CustomResourceDefinition } from '../../../client/kinds.ts';
import type { Client } from '../../../client/client.ts';
import { isConditionTrue } from '../../../kube/conditions.ts';
import { isContained } from '../../../kube/is-contained.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { FIELD_MANAGER } from '../installation/plugin-objects.ts';

/** Objects of a kind that another project defines, which may be installed today, tomorrow, or never. */
export class ServedKind {
  /** The definition, while there is one. */
  readonly definition: Informer;
  readonly #kind: Kind;
  readonly #client: Client;
  readonly #informers: SharedInformers;
  readonly #labelSelector: string;
  #own: Informer | undefined;
  #changed: (object: KubeObject) => void = () => {};

  constructor(kind: Kind, labelSelector: string, { client, informers }: { client: Client; informers: SharedInformers }) {
    this.#kind = kind;
    this.#client = client;
    this.#informers = informers;
    this.#labelSelector = labelSelector;
    const fieldSelector = `metadata.name=${kind.plural}.${kind.group}`;
    this.definition = informers.get(CustomResourceDefinition, { fieldSelector, transform: withoutSchemas as never }) as unknown as Informer;
  }

  /** Calls back with our objects of the kind that change. */
  onChange(changed: (object: KubeObject) => void): void {
    this.#changed = changed;
  }

  /** Our objects of the kind; undefined while the kind is not served. */
  async own(): Promise<Informer | undefined> {
    if (!this.#isServed()) {
      if (this.#own) this.#informers.release(this.#kind, { labelSelector: this.#labelSelector });
      this.#own = undefined;
      return undefined;
    }
    if (!this.#own) {
      this.#own = this.#informers.get(this.#kind, { labelSelector: this.#labelSelector });
      this.#own.onChange(({ object }) => this.#changed(object));
    }
    await this.#own.whenSynced();
    return this.#own;
  }

  async apply(wanted: KubeObject, existing: KubeObject | undefined): Promise<void> {
    if (isContained(wanted, existing)) return;
    await this.#client.resource(this.#kind, wanted.metadata.namespace).apply(wanted, { fieldManager: FIELD_MANAGER, force: true });
  }

  async remove({ metadata }: KubeObject): Promise<void> {
    try {
      await this.#client.resource(this.#kind, metadata.namespace).delete(metadata.name!);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }

  #isServed(): boolean {
    const [definition] = this.definition.list();
    const versions = (definition?.spec?.versions ?? []) as { name: string; served: boolean }[];
    return (
      versions.some(({ name, served }) => name === this.#kind.version && served) &&
      isConditionTrue(definition.status?.conditions, 'Established')
    );
  }
}

/** Schemas are most of a definition, and of no interest here. */
function withoutSchemas({ apiVersion, kind, metadata, spec, status }: KubeObject): KubeObject {
  const versions = ((spec?.versions ?? []) as { name: string; served: boolean }[]).map(({ name, served }) => ({ name, served }));
  const { name, uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { name, uid, resourceVersion }, spec: { versions }, status };
}
