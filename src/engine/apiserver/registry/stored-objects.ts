import { formatTime } from '../../../kube/time.ts';
import { copyInSlices } from '../../../kube/json-slices.ts';
import { NAME_RULES, validateObjectMeta } from '../../../kube/metadata-validation.ts';
import type { GroupResource, KubeObject } from '../../../kube/object.ts';
import { alreadyExistsError, invalidError, notFoundError } from '../../../kube/status.ts';
import type { StoreEvent } from '../../store/store.ts';
import { runInSlices } from '../schema/slices.ts';
import { NOTICEABLE_BYTES } from '../verbs/body-limits.ts';
import { encodeIfChanged, encodeLargeIfChanged, isConflict, persist, persistRemoval } from '../verbs/persist.ts';
import type { ServerCore } from '../verbs/core.ts';
import { canonical, keepSystemFields } from '../verbs/system-fields.ts';
import { isRemovable } from './deletion-rules.ts';
import { largeObject } from './large-objects.ts';
import { prefixOfKey, storageKey, storagePrefix } from './keys.ts';
import type { CreateOptions, ObjectChange, ObjectWriter } from './objects.ts';
import type { Resource, WriteContext } from './resource.ts';

const ATTEMPTS = 16;
const SERVER = { name: 'system:apiserver', groups: ['system:masters'] };

/** The server's own reads and writes, straight on the store. */
export class StoredObjects implements ObjectWriter {
  readonly #core: Omit<ServerCore, 'admission' | 'authorizer'>;
  readonly #listeners = new Map<string, Set<(change: ObjectChange) => void>>();

  constructor(core: Omit<ServerCore, 'admission' | 'authorizer'>) {
    this.#core = core;
    core.store.onCommit((events) => this.#announce(events));
  }

  get<T extends KubeObject = KubeObject>(resource: GroupResource, namespace: string, name: string): T | undefined {
    const known = this.#core.catalog.stored(resource);
    if (known === undefined) return undefined;
    const entry = this.#core.store.get(storageKey(known, namespace, name));
    return entry === undefined ? undefined : (this.#core.cache.object(entry) as T);
  }

  list<T extends KubeObject = KubeObject>(resource: GroupResource, namespace?: string): T[] {
    const known = this.#core.catalog.stored(resource);
    if (known === undefined) return [];
    const prefix = storagePrefix(known.storage);
    const { entries } = this.#core.store.range(namespace ? `${prefix}${namespace}/` : prefix);
    return entries.map((entry) => this.#core.cache.object(entry) as T);
  }

  onChange(resource: GroupResource, listener: (change: ObjectChange) => void): () => void {
    const prefix = storagePrefix(resource);
    let listeners = this.#listeners.get(prefix);
    if (listeners === undefined) this.#listeners.set(prefix, (listeners = new Set<(change: ObjectChange) => void>()));
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  async create(groupResource: GroupResource, object: KubeObject, { ours = false }: CreateOptions = {}): Promise<KubeObject> {
    const core = this.#core;
    const resource = this.#known(groupResource);
    const draft = resource.strategy.decode(structuredClone(object), resource.version);
    const context = this.#context(resource, '');
    draft.metadata.uid = core.newUid();
    draft.metadata.creationTimestamp = formatTime(core.now());
    resource.strategy.prepareCreate(draft, context);
    const { name = '', namespace = '' } = draft.metadata;
    if (ours) {
      if (object.status !== undefined) draft.status = { ...draft.status, ...object.status };
    } else {
      const errors = [
        ...validateObjectMeta(draft.metadata, resource.namespaced, NAME_RULES[resource.strategy.nameRule]),
        ...resource.strategy.validateCreate(draft, context),
      ];
      if (errors.length > 0) throw invalidError(resource, name, errors);
    }
    try {
      return core.cache.object(
        await persist(core as ServerCore, resource, storageKey(resource, namespace, name), undefined, canonical(draft)),
      );
    } catch (error) {
      throw isConflict(error) ? alreadyExistsError(resource, name) : error;
    }
  }

  async update(
    groupResource: GroupResource,
    namespace: string,
    name: string,
    change: (draft: KubeObject) => boolean | void,
    subresource?: 'status' | 'binding',
  ): Promise<KubeObject> {
    const core = this.#core as ServerCore;
    const resource = this.#known(groupResource);
    const key = storageKey(resource, namespace, name);
    const entry = core.store.latest(key);
    if (entry === undefined) throw notFoundError(resource, name);
    if (entry.bytes.byteLength > NOTICEABLE_BYTES) return this.#updateLarge(resource, key, change, subresource ?? '');
    const old = core.cache.object(entry);
    const draft = core.cache.draft(entry);
    if (change(draft) === false) return old;
    const stored = this.#prepared(resource, draft, old, subresource ?? '');
    if (isRemovable(resource, stored)) return core.cache.object(await persistRemoval(core, resource, key, entry, stored));
    const encoded = encodeIfChanged(entry, stored);
    if (encoded === undefined) return old;
    return core.cache.object(await persist(core, resource, key, entry, stored, encoded));
  }

  /** The same with pauses, in which others may write: then it is done again on what they wrote. */
  async #updateLarge(
    resource: Resource,
    key: string,
    change: (draft: KubeObject) => boolean | void,
    subresource: string,
  ): Promise<KubeObject> {
    const core = this.#core as ServerCore;
    for (let attempt = 1; ; attempt++) {
      const entry = core.store.latest(key);
      if (entry === undefined) throw notFoundError(resource, key.slice(key.lastIndexOf('/') + 1));
      const old = await largeObject(core.cache, entry);
      const draft: KubeObject = await runInSlices(copyInSlices(old));
      if (change(draft) === false) return old;
      const stored = this.#prepared(resource, draft, old, subresource);
      try {
        if (isRemovable(resource, stored)) return core.cache.object(await persistRemoval(core, resource, key, entry, stored));
        const encoded = await encodeLargeIfChanged(entry, stored);
        if (encoded === undefined) return old;
        return core.cache.object(await persist(core, resource, key, entry, stored, encoded));
      } catch (error) {
        if (!isConflict(error) || attempt >= ATTEMPTS) throw error;
      }
    }
  }

  #prepared(resource: Resource, draft: KubeObject, old: KubeObject, subresource: string): KubeObject {
    resource.strategy.prepareUpdate(draft, old, this.#context(resource, subresource));
    keepSystemFields(draft.metadata, old.metadata);
    return canonical(draft);
  }

  async delete(groupResource: GroupResource, namespace: string, name: string): Promise<void> {
    const core = this.#core as ServerCore;
    const resource = this.#known(groupResource);
    const key = storageKey(resource, namespace, name);
    const entry = core.store.latest(key);
    if (entry === undefined) throw notFoundError(resource, name);
    await persistRemoval(core, resource, key, entry, core.cache.draft(entry));
  }

  #known(resource: GroupResource): Resource {
    const known = this.#core.catalog.stored(resource);
    if (known === undefined) throw notFoundError(resource, '');
    return known;
  }

  #context(resource: Resource, subresource: string): WriteContext {
    return { user: SERVER, version: resource.version, subresource, now: this.#core.now };
  }

  #announce(events: readonly StoreEvent[]): void {
    if (this.#listeners.size === 0) return;
    for (const event of events) {
      const listeners = this.#listeners.get(prefixOfKey(event.entry.key));
      if (listeners === undefined || listeners.size === 0) continue;
      const change: ObjectChange = {
        type: event.type === 'remove' ? 'DELETED' : event.previous === undefined ? 'ADDED' : 'MODIFIED',
        object: this.#core.cache.object(event.entry),
        previous: event.previous === undefined ? undefined : this.#core.cache.object(event.previous),
      };
      for (const listener of listeners) listener(change);
    }
  }
}
