import type { Client } from '../../../client/client.ts';
import { ConfigMap, PersistentVolumeClaim, Secret } from '../../../client/kinds.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Log } from '../../../lib/log.ts';
import { Informer } from '../../../runtime/informer/informer.ts';

const KINDS = { configMap: ConfigMap, secret: Secret, claim: PersistentVolumeClaim };
export type ReferencedKind = keyof typeof KINDS;

export interface Reference {
  kind: ReferencedKind;
  namespace: string;
  name: string;
}

interface Held {
  informer: Informer;
  abort: AbortController;
  listeners: Set<() => void>;
  /** An object that will never change needs no watch any more. */
  final?: KubeObject;
}

/**
 * The objects that Pods of this node refer to, each watched by its name as long as somebody holds it: a node may read nothing else.
 * Those that nobody holds are read directly.
 */
export class ReferencedObjects {
  #client: Client;
  #log: Log;
  #held = new Map<string, Held>();
  #reading = new Map<string, Promise<KubeObject | undefined>>();

  constructor({ client, log }: { client: Client; log: Log }) {
    this.#client = client;
    this.#log = log;
  }

  /** Watches the object, and tells of changes, until the result is called. */
  hold(reference: Reference, changed: () => void): () => void {
    const key = keyOf(reference);
    const held = this.#held.get(key) ?? this.#watch(reference, key);
    held.listeners.add(changed);
    return () => {
      if (!held.listeners.delete(changed) || held.listeners.size > 0) return;
      held.abort.abort();
      if (this.#held.get(key) === held) this.#held.delete(key);
    };
  }

  /** Undefined when there is none of that name. */
  async read(reference: Reference): Promise<KubeObject | undefined> {
    const key = keyOf(reference);
    const held = this.#held.get(key);
    const known = held?.final ?? (held?.informer.synced ? held.informer.find(reference.namespace, reference.name) : undefined);
    // The watch may be a moment behind somebody who made the object and then the Pod: absence is not believed.
    if (known) return known;
    const reading = this.#reading.get(key) ?? this.#get(reference, key);
    return reading;
  }

  /** For what reads by function: the environment of containers. */
  readonly configMap = (namespace: string, name: string): Promise<KubeObject | undefined> =>
    this.read({ kind: 'configMap', namespace, name });
  readonly secret = (namespace: string, name: string): Promise<KubeObject | undefined> => this.read({ kind: 'secret', namespace, name });

  stop(): void {
    for (const { abort } of this.#held.values()) abort.abort();
    this.#held.clear();
  }

  get watched(): number {
    return this.#held.size;
  }

  #get(reference: Reference, key: string): Promise<KubeObject | undefined> {
    const kind: Kind = KINDS[reference.kind];
    const reading = this.#client
      .resource(kind, reference.namespace)
      .get(reference.name)
      .catch((error: unknown) => {
        if (isStatusError(error, 'NotFound')) return undefined;
        throw error;
      })
      .finally(() => this.#reading.delete(key));
    // Pods that start together ask once.
    this.#reading.set(key, reading);
    return reading;
  }

  #watch({ kind, namespace, name }: Reference, key: string): Held {
    const resource = this.#client.resource<KubeObject>(KINDS[kind], namespace);
    const fieldSelector = `metadata.name=${name}`;
    const informer = new Informer<KubeObject>({
      resource,
      clock: this.#client.clock,
      log: this.#log,
      fieldSelector,
      transform: withoutManagedFields,
    });
    const held: Held = { informer, abort: new AbortController(), listeners: new Set() };
    this.#held.set(key, held);
    informer.onChange(({ type, object }) => {
      if (type !== 'deleted' && object.immutable === true) {
        held.final = object;
        held.abort.abort();
      }
      for (const listener of held.listeners) listener();
    });
    void informer.run(held.abort.signal);
    return held;
  }
}

/** Often larger than the rest, and of no use here. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function keyOf({ kind, namespace, name }: Reference): string {
  return `${kind}/${namespace}/${name}`;
}
