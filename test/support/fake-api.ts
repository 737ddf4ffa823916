import type { InMemoryHandler, TransportRequest } from '../../src/client/transport.ts';
import { deepCopy } from '../../src/kube/json-value.ts';
import { applyMergePatch } from '../../src/kube/merge-patch.ts';
import { toApiVersion, type Json, type KubeObject } from '../../src/kube/object.ts';
import { alreadyExistsError, conflictError, failure, notFoundError, StatusError } from '../../src/kube/status.ts';
import type { WatchEvent } from '../../src/kube/watch-event.ts';

interface Location {
  group: string;
  version: string;
  namespace: string;
  plural: string;
  name: string;
  subresource: string;
}

interface Recorded {
  revision: number;
  prefix: string;
  event: WatchEvent & { object: KubeObject };
}

/**
 * As much of an API server as unit tests of controllers need: objects with resourceVersions, finalizers, a status subresource and
 * watches that resume and expire. No defaults, validation or authorization: what depends on those is tested against the engine.
 */
export class FakeApi {
  revision = 0;
  /** Watches from before this revision are refused. */
  compacted = 0;
  /** Whether sendInitialEvents is known. */
  streams = true;
  requests: TransportRequest[] = [];
  /** Called before each request; throw to refuse it. */
  intercept: (request: TransportRequest) => void = () => {};
  now = (): number => Date.now();
  #objects = new Map<string, KubeObject>();
  #log: Recorded[] = [];
  #connections = new Set<Connection>();
  #uid = 0;

  readonly handler: InMemoryHandler = async (request) => {
    this.requests.push(request);
    try {
      this.intercept(request);
      if (request.query?.watch === 'true') return { status: 200, headers: {}, events: this.#watch(request) };
      return { status: 200, headers: {}, body: this.#serve(request) };
    } catch (error) {
      if (error instanceof StatusError) return { status: error.code, headers: {}, body: error.status };
      throw error;
    }
  };

  /** Writes without a request, as another client would. */
  put(object: KubeObject, plural: string): KubeObject {
    const { group, version } = splitApiVersion(object.apiVersion);
    const at: Location = {
      group,
      version,
      namespace: object.metadata.namespace ?? '',
      plural,
      name: object.metadata.name!,
      subresource: '',
    };
    return this.#objects.has(keyOf(at)) ? this.#store(at, object, this.#objects.get(keyOf(at))) : this.#create(at, object);
  }

  get(plural: string, namespace: string, name: string): KubeObject | undefined {
    for (const [key, object] of this.#objects) if (key.endsWith(`/${plural}/${namespace}/${name}`)) return object;
    return undefined;
  }

  remove(plural: string, namespace: string, name: string): void {
    for (const key of this.#objects.keys()) if (key.endsWith(`/${plural}/${namespace}/${name}`)) this.#drop(key);
  }

  /** Breaks all connections of watches, as a restart would. */
  disconnect(): void {
    for (const connection of this.#connections) connection.break();
  }

  bookmark(): void {
    for (const connection of this.#connections) connection.push(bookmarkAt(this.revision));
  }

  expireHistory(): void {
    this.compacted = this.revision;
    this.#log = [];
  }

  get watchCount(): number {
    return this.#connections.size;
  }

  #serve(request: TransportRequest): Json {
    const at = locate(request);
    if (request.method === 'GET') return at.name === '' ? this.#list(at, request) : this.#existing(at);
    if (request.method === 'POST')
      return at.subresource === '' ? this.#create(at, request.body as KubeObject) : this.#subresource(at, request.body);
    if (request.method === 'PUT') return this.#update(at, request.body as KubeObject);
    if (request.method === 'PATCH') return this.#patch(at, request.body, request.contentType ?? '');
    return this.#delete(at, request.body as Json);
  }

  #list(at: Location, request: TransportRequest): Json {
    const items = this.#matching(prefixOf(at), at.namespace, request);
    return { apiVersion: toApiVersion(at.group, at.version), kind: 'List', metadata: { resourceVersion: String(this.revision) }, items };
  }

  #matching(prefix: string, namespace: string, request: TransportRequest): KubeObject[] {
    const wanted = String(request.query?.labelSelector ?? '')
      .split(',')
      .filter(Boolean);
    return [...this.#objects].flatMap(([key, object]) => {
      if (!key.startsWith(prefix) || (namespace !== '' && object.metadata.namespace !== namespace)) return [];
      const labels = object.metadata.labels ?? {};
      const matches = ([name, value]: string[]) => (value === undefined ? labels[name] !== undefined : labels[name] === value);
      return wanted.every((term) => matches(term.split('='))) ? [object] : [];
    });
  }

  #existing(at: Location): KubeObject {
    const object = this.#objects.get(keyOf(at));
    if (!object) throw notFoundError({ group: at.group, resource: at.plural }, at.name);
    return object;
  }

  #create(at: Location, body: KubeObject): KubeObject {
    const name = body.metadata.name ?? `${body.metadata.generateName}${++this.#uid}`;
    const place = { ...at, name, namespace: at.namespace || (body.metadata.namespace ?? '') };
    if (this.#objects.has(keyOf(place))) throw alreadyExistsError({ group: at.group, resource: at.plural }, name);
    const created = deepCopy(body);
    created.metadata.name = name;
    if (place.namespace !== '') created.metadata.namespace = place.namespace;
    created.metadata.uid ??= `uid-${++this.#uid}`;
    created.metadata.generation = 1;
    created.metadata.creationTimestamp ??= new Date(this.now()).toISOString();
    return this.#store(place, created, undefined);
  }

  #update(at: Location, body: KubeObject): KubeObject {
    const old = this.#existing(at);
    const version = body.metadata.resourceVersion;
    if (version && version !== old.metadata.resourceVersion)
      throw conflictError({ group: at.group, resource: at.plural }, at.name, 'stale');
    const next: KubeObject = deepCopy(
      ['status', 'approval'].includes(at.subresource) ? { ...old, status: body.status } : { ...body, status: old.status },
    );
    next.metadata = { ...next.metadata, uid: old.metadata.uid, deletionTimestamp: old.metadata.deletionTimestamp };
    if (JSON.stringify(next.spec) !== JSON.stringify(old.spec)) next.metadata.generation = (old.metadata.generation ?? 0) + 1;
    return this.#store(at, next, old);
  }

  #patch(at: Location, patch: Json, contentType: string): KubeObject {
    if (contentType.includes('apply')) {
      if (!this.#objects.has(keyOf(at))) return this.#create(at, patch);
      return this.#update(at, applyMergePatch(deepCopy(this.#existing(at)), patch) as KubeObject);
    }
    return this.#update(at, applyMergePatch(deepCopy(this.#existing(at)), patch) as KubeObject);
  }

  #subresource(at: Location, body: Json): Json {
    return this.#update({ ...at, subresource: at.subresource }, { ...this.#existing({ ...at, subresource: '' }), ...body });
  }

  #delete(at: Location, options: Json): Json {
    if (at.name === '') {
      for (const object of this.#matching(prefixOf(at), at.namespace, { method: 'GET', path: '' })) {
        this.#delete({ ...at, name: object.metadata.name!, namespace: object.metadata.namespace ?? '' }, options);
      }
      return { kind: 'Status', apiVersion: 'v1', status: 'Success', metadata: {}, code: 200 };
    }
    const old = this.#existing(at);
    const wrongUid = options?.preconditions?.uid !== undefined && options.preconditions.uid !== old.metadata.uid;
    if (wrongUid) throw conflictError({ group: at.group, resource: at.plural }, at.name, 'Precondition failed: UID');
    const next = deepCopy(old);
    const extra = { Foreground: 'foregroundDeletion', Orphan: 'orphan' }[options?.propagationPolicy as string];
    if (extra && !next.metadata.finalizers?.includes(extra)) next.metadata.finalizers = [...(next.metadata.finalizers ?? []), extra];
    if ((next.metadata.finalizers ?? []).length === 0) {
      this.#drop(keyOf(at));
      return { kind: 'Status', apiVersion: 'v1', status: 'Success', metadata: {}, code: 200 };
    }
    next.metadata.deletionTimestamp ??= new Date(this.now()).toISOString();
    return this.#store(at, next, old);
  }

  #store(at: Location, next: KubeObject, old: KubeObject | undefined): KubeObject {
    const key = keyOf(at);
    const same = old && JSON.stringify({ ...next, metadata: { ...next.metadata, resourceVersion: '' } });
    if (same && same === JSON.stringify({ ...old, metadata: { ...old.metadata, resourceVersion: '' } })) return old;
    const stored = deepCopy(next);
    stored.metadata.resourceVersion = String(++this.revision);
    if (stored.metadata.deletionTimestamp && (stored.metadata.finalizers ?? []).length === 0 && !stored.spec?.finalizers?.length) {
      this.#objects.set(key, stored);
      this.revision--;
      this.#drop(key);
      return stored;
    }
    this.#objects.set(key, stored);
    this.#record(key, { type: old ? 'MODIFIED' : 'ADDED', object: stored });
    return stored;
  }

  #drop(key: string): void {
    const old = this.#objects.get(key);
    if (!old) return;
    this.#objects.delete(key);
    const last = deepCopy(old);
    last.metadata.resourceVersion = String(++this.revision);
    this.#record(key, { type: 'DELETED', object: last });
  }

  #record(key: string, event: WatchEvent & { object: KubeObject }): void {
    this.#log.push({ revision: this.revision, prefix: key, event });
    for (const connection of this.#connections) connection.offer(key, event);
  }

  #watch(request: TransportRequest): AsyncIterable<WatchEvent> {
    const at = locate(request);
    const prefix = prefixOf(at);
    const from = Number(request.query?.resourceVersion ?? 0);
    const initial = request.query?.sendInitialEvents === 'true';
    if (initial && !this.streams) throw failure('Invalid', 'sendInitialEvents: Forbidden');
    if (!initial && from < this.compacted) throw failure('Expired', `too old resource version: ${from} (${this.compacted})`);
    const connection = new Connection(prefix, at.namespace, request.signal, () => this.#connections.delete(connection));
    if (initial) {
      for (const object of this.#matching(prefix, at.namespace, request)) connection.push({ type: 'ADDED', object });
      connection.push(bookmarkAt(this.revision, { 'k8s.io/initial-events-end': 'true' }));
    } else for (const { revision, prefix: key, event } of this.#log) if (revision > from) connection.offer(key, event);
    this.#connections.add(connection);
    return connection;
  }
}

class Connection implements AsyncIterable<WatchEvent> {
  #queue: WatchEvent[] = [];
  #broken = false;
  #wake: () => void = () => {};
  #prefix: string;
  #namespace: string;
  #onEnd: () => void;

  constructor(prefix: string, namespace: string, signal: AbortSignal | undefined, onEnd: () => void) {
    this.#prefix = prefix;
    this.#namespace = namespace;
    this.#onEnd = onEnd;
    signal?.addEventListener('abort', () => this.break());
  }

  offer(key: string, event: WatchEvent & { object: KubeObject }): void {
    if (!key.startsWith(this.#prefix)) return;
    if (this.#namespace === '' || event.object.metadata.namespace === this.#namespace) this.push(event);
  }

  push(event: WatchEvent): void {
    this.#queue.push(event);
    this.#wake();
  }

  break(): void {
    this.#broken = true;
    this.#onEnd();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent, void, void> {
    try {
      for (;;) {
        if (this.#broken) return;
        while (this.#queue.length > 0) yield this.#queue.shift()!;
        if (this.#broken) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.#onEnd();
    }
  }
}

function bookmarkAt(revision: number, annotations?: Record<string, string>): WatchEvent {
  return { type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Bookmark', metadata: { resourceVersion: String(revision), annotations } } };
}

function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** /api/v1/namespaces/ns/pods/name/status, /apis/g/v/things/name */
function locate(request: TransportRequest): Location {
  const parts = request.path.split('/').slice(1).map(decodeURIComponent);
  const core = parts.shift() === 'api';
  const group = core ? '' : parts.shift()!;
  const version = parts.shift()!;
  const scoped = parts[0] === 'namespaces' && parts.length >= 3 && !['finalize', 'status'].includes(parts[2]);
  const namespace = scoped ? parts.splice(0, 2)[1] : '';
  const [plural, name = '', subresource = ''] = parts;
  return { group, version, namespace, plural, name, subresource };
}

function prefixOf(at: Location): string {
  return `${at.group}/${at.plural}/`;
}

function keyOf(at: Location): string {
  return `${at.group}/${at.plural}/${at.namespace}/${at.name}`;
}
