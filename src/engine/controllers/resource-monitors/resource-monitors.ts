import type { DiscoveredResource } from '../../../client/discovery.ts';
import { apiVersionOf } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { linkSignals, longLivedController } from '../../../lib/abort.ts';
import type { Timer } from '../../../lib/clock.ts';
import { Reflector } from '../../../runtime/informer/reflector.ts';
import type { Environment, Running } from '../environment.ts';

/** Hears of every object of every resource that can be deleted, metadata only. Nothing is kept for it. */
export interface MonitorListener {
  listBegins?(resource: DiscoveredResource): void;
  /** Added, changed, or part of a list. */
  observed?(resource: DiscoveredResource, object: KubeObject): void;
  listEnds?(resource: DiscoveredResource): void;
  deleted?(resource: DiscoveredResource, object: KubeObject): void;
  /** The set of served resources changed. */
  resourcesChanged?(): void;
}

const IGNORED = new Set(['/events', 'events.k8s.io/events']);
const CUSTOM = 'apiextensions.k8s.io/customresourcedefinitions';
/** Changes of these say that other resources may have come or gone. */
const DEFINING = new Set([CUSTOM, 'apiregistration.k8s.io/apiservices']);
const REDISCOVER_AFTER_MS = 100;
/** A new definition is served a moment after it was written; nothing tells when, so the answer is asked for once more. */
const REDISCOVER_AGAIN_AFTER_MS = 2000;
const RETRY_DISCOVERY_MS = 5000;

interface Monitor {
  version: string;
  abort(): void;
  running: Promise<void>;
}

/** One metadata-only watch per deletable resource, shared by the garbage collector, quota and namespace controllers. */
export class ResourceMonitors implements Running {
  #environment: Environment;
  #listeners: MonitorListener[] = [];
  #monitors = new Map<string, Monitor>();
  #byKind = new Map<string, DiscoveredResource>();
  #byName = new Map<string, DiscoveredResource>();
  #stop = longLivedController();
  #timer: Timer | undefined;
  #discovering: Promise<void> = Promise.resolve();
  #setDiscovered!: () => void;
  /** What is served is known. Until then `resourceNamed` and `resourceOf` know nothing, which says nothing. */
  readonly discovered = new Promise<void>((resolve) => (this.#setDiscovered = resolve));

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Listeners are added before the start. */
  listen(listener: MonitorListener): void {
    this.#listeners.push(listener);
  }

  start(): this {
    this.#rediscover();
    return this;
  }

  /** The resource that serves a kind, in whichever version the kind is named; undefined when none is known. */
  resourceOf(apiVersion: string, kind: string): DiscoveredResource | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** The preferred version of a resource, watched or not. */
  resourceNamed(group: string, plural: string): DiscoveredResource | undefined {
    return this.#byName.get(`${group}/${plural}`);
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#stop.abort();
    await this.#discovering;
    await Promise.all([...this.#monitors.values()].map(({ running }) => running));
  }

  #scheduleDiscovery(ms: number): void {
    if (this.#stop.signal.aborted) return;
    this.#timer?.cancel();
    this.#timer = this.#environment.clock.setTimer(ms, () => this.#rediscover());
  }

  #rediscover(): void {
    // One after the other: what an earlier answer says must not undo what a later one did.
    this.#discovering = this.#discovering
      .then(() => this.#discover())
      .catch((error: unknown) => {
        if (this.#stop.signal.aborted) return;
        this.#environment.log.warn('cannot discover resources, will try again', { error });
        this.#scheduleDiscovery(RETRY_DISCOVERY_MS);
      });
  }

  async #discover(): Promise<void> {
    const { resources, failed } = await this.#environment.client.discovery.resources({ signal: this.#stop.signal });
    if (this.#stop.signal.aborted) return;
    const byKind = new Map(resources.map((resource) => [`${apiVersionOf(resource)}/${resource.kind}`, resource]));
    const before = this.#byKind;
    this.#byKind = byKind;
    this.#byName = new Map(resources.filter(({ preferred }) => preferred).map((resource) => [idOf(resource), resource]));
    this.#setDiscovered();
    const wanted = new Map<string, DiscoveredResource>();
    for (const resource of resources) if (isMonitored(resource)) wanted.set(idOf(resource), resource);
    for (const [id, monitor] of this.#monitors) {
      // What a failing server serves is unknown, not gone: its monitors stay.
      const unknown = failed.some((groupVersion) => id.startsWith(`${groupVersion.split('/')[0]}/`));
      if (!unknown && wanted.get(id)?.version !== monitor.version) this.#end(id, monitor);
    }
    for (const [id, resource] of wanted) {
      if (this.#monitors.has(id)) continue;
      this.#begin(id, resource);
      // Sixty first lists at once would keep requests waiting.
      await new Promise<void>((resolve) => void setImmediate(resolve));
      if (this.#stop.signal.aborted) return;
    }
    const changed = before.size !== byKind.size || [...byKind.keys()].some((key) => !before.has(key));
    if (changed) for (const listener of this.#listeners) listener.resourcesChanged?.();
  }

  #begin(id: string, resource: DiscoveredResource): void {
    const { client, clock, log } = this.#environment;
    const stop = linkSignals(this.#stop.signal);
    const defines = DEFINING.has(id);
    const definitionChanged = (): void => {
      if (!defines) return;
      this.#scheduleDiscovery(REDISCOVER_AFTER_MS);
      clock.setTimer(REDISCOVER_AGAIN_AFTER_MS, () => this.#scheduleDiscovery(0));
    };
    const observed = (object: KubeObject): void => {
      for (const listener of this.#listeners) listener.observed?.(resource, object);
    };
    const deleted = (object: KubeObject): void => {
      for (const listener of this.#listeners) listener.deleted?.(resource, object);
    };
    const reflector = new Reflector(
      { resource: client.metadata(resource), clock, log },
      {
        listBegins: () => {
          for (const listener of this.#listeners) listener.listBegins?.(resource);
        },
        listed: (object) => {
          // Defined after the discovery and before this list.
          if (id === CUSTOM && !this.#isKnown(object.metadata.name!)) definitionChanged();
          observed(object);
        },
        unlisted: deleted,
        listEnds: () => {
          for (const listener of this.#listeners) listener.listEnds?.(resource);
        },
        changed: (type, object) => {
          definitionChanged();
          if (type === 'DELETED') deleted(object);
          else observed(object);
        },
      },
    );
    this.#monitors.set(id, { version: resource.version, abort: () => stop.abort(), running: reflector.run(stop.signal) });
  }

  /** Whether the resource that a definition, named `<plural>.<group>`, is about has been discovered. */
  #isKnown(definition: string): boolean {
    const dot = definition.indexOf('.');
    return this.#byName.has(`${definition.slice(dot + 1)}/${definition.slice(0, dot)}`);
  }

  #end(id: string, monitor: Monitor): void {
    monitor.abort();
    this.#monitors.delete(id);
  }
}

function idOf(resource: DiscoveredResource): string {
  return `${resource.group}/${resource.plural}`;
}

function isMonitored(resource: DiscoveredResource): boolean {
  return resource.preferred && !IGNORED.has(idOf(resource)) && ['delete', 'list', 'watch'].every((verb) => resource.verbs.includes(verb));
}
