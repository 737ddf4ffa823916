import type { Client } from '../../../client/client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../lib/log.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { LiveType } from './live-type.ts';
import { typeId, typesInForce, type ConfiguredType, type ResolvedEntry } from './model/configured-types.ts';

export interface TypesChange {
  started: readonly LiveType[];
  stopped: readonly LiveType[];
  /** Of the same objects, with another mode. */
  changed: readonly LiveType[];
}

/**
 * The types of objects that the configuration names. Those that something is done about are watched; a type in mode Ignore costs
 * nothing. The informers are not shared with anybody, because they end when their type leaves the configuration.
 */
export class PropagatedTypes {
  #informers: SharedInformers;
  #live = new Map<string, LiveType>();
  #configured: readonly ConfiguredType[] = [];
  #entries: readonly ResolvedEntry[] = [];
  #listeners = new Set<(change: TypesChange) => void>();

  constructor(options: { client: Client; log: Log }) {
    this.#informers = new SharedInformers(options);
  }

  /** All types in force, those that are ignored too, as the status lists them. */
  get configured(): readonly ConfiguredType[] {
    return this.#configured;
  }

  /** What became of the entries of the configuration. */
  get entries(): readonly ResolvedEntry[] {
    return this.#entries;
  }

  live(): IterableIterator<LiveType> {
    return this.#live.values();
  }

  /** By group and plural. */
  find(group: string, plural: string): LiveType | undefined {
    return this.#live.get(typeId({ group, plural }));
  }

  /** @returns the way to stop */
  onChange(listener: (change: TypesChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  apply(entries: readonly ResolvedEntry[]): void {
    this.#entries = entries;
    this.#configured = typesInForce(entries);
    const wanted = new Map(this.#configured.filter(({ mode }) => mode !== 'Ignore').map((type) => [typeId(type.kind), type]));
    const stopped = [...this.#live.values()].filter(({ kind }) => wanted.get(typeId(kind))?.kind.version !== kind.version);
    for (const { kind } of stopped) {
      this.#live.delete(typeId(kind));
      this.#informers.release(kind);
    }
    const started: LiveType[] = [];
    const changed: LiveType[] = [];
    for (const [id, { kind, mode }] of wanted) {
      const known = this.#live.get(id);
      if (!known) {
        const type = new LiveType(kind, mode, this.#informers.get(kind, { transform: withoutManagedFields }));
        this.#live.set(id, type);
        started.push(type);
      } else if (known.mode !== mode) {
        known.mode = mode;
        changed.push(known);
      }
    }
    for (const listener of this.#listeners) listener({ started, stopped, changed });
  }

  /** Everything that exists of the types in force is known. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.#live.values(), ({ informer }) => informer.whenSynced(signal)));
  }

  stop(): Promise<void> {
    return this.#informers.stop();
  }
}

/** Half of a small object; nothing here looks at them. */
function withoutManagedFields(object: KubeObject): KubeObject {
  if (!object.metadata.managedFields) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
