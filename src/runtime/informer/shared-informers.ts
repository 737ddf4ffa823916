import type { Client } from '../../client/client.ts';
import type { Kind } from '../../kube/kind.ts';
import type { KubeObject } from '../../kube/object.ts';
import { linkSignals, longLivedController } from '../../lib/abort.ts';
import type { Log } from '../../lib/log.ts';
import { Informer, type InformerOptions } from './informer.ts';

export interface InformerSelection<T extends KubeObject> {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Objects carry metadata only: a fraction of the memory. */
  metadataOnly?: boolean;
  transform?: InformerOptions<T>['transform'];
  ceiling?: InformerOptions<T>['ceiling'];
}

/** One informer per resource and selection for all controllers of a process. An informer starts when it is first asked for. */
export class SharedInformers {
  #client: Client;
  #log: Log;
  #stop: AbortController;
  #patienceMs: number | undefined;
  #informers = new Map<string, { informer: Informer; abort: () => void; running: Promise<void> }>();

  /** `patienceMs`: who waits for a first list gives up after so long, or when this stops; absent: only when told to. */
  constructor(options: { client: Client; log: Log; signal?: AbortSignal; patienceMs?: number }) {
    this.#client = options.client;
    this.#log = options.log;
    this.#stop = longLivedController(options.signal);
    this.#patienceMs = options.patienceMs;
  }

  /** Those who ask for the same resource and selection share an informer, so `transform` and `ceiling` must be the same too. */
  get<T extends KubeObject>(kind: Kind<T>, selection: InformerSelection<T> = {}): Informer<T> {
    const id = identityOf(kind, selection);
    const existing = this.#informers.get(id);
    if (existing) return existing.informer as unknown as Informer<T>;
    const { namespace, metadataOnly, ...rest } = selection;
    const resource = metadataOnly ? this.#client.metadata(kind, namespace) : this.#client.resource(kind, namespace);
    const patience = this.#patienceMs === undefined ? undefined : { ms: this.#patienceMs, signal: this.#stop.signal };
    const informer = new Informer<T>({ ...rest, resource: resource as never, clock: this.#client.clock, log: this.#log, patience });
    const stop = linkSignals(this.#stop.signal);
    const running = informer.run(stop.signal);
    this.#informers.set(id, { informer: informer as unknown as Informer, abort: () => stop.abort(), running });
    return informer;
  }

  /** Ends an informer that nobody needs any more, because its resource is no longer served. */
  release<T extends KubeObject>(kind: Kind<T>, selection: InformerSelection<T> = {}): void {
    const id = identityOf(kind, selection);
    this.#informers.get(id)?.abort();
    this.#informers.delete(id);
  }

  /** All informers that exist now have their first list. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map(({ informer }) => informer.whenSynced(signal)));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#informers.values()].map(({ running }) => running));
  }
}

function identityOf<T extends KubeObject>(kind: Kind<T>, selection: InformerSelection<T>): string {
  const { namespace = '', labelSelector = '', fieldSelector = '', metadataOnly = false } = selection;
  return JSON.stringify([kind.group, kind.version, kind.plural, namespace, labelSelector, fieldSelector, metadataOnly]);
}
