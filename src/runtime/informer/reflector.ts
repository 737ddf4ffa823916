import { isExpired } from '../../client/list-pages.ts';
import { PAGE_SIZE, type ResourceClient } from '../../client/resource-client.ts';
import type { WatchOptions, WatchUpdate } from '../../client/watch.ts';
import type { KubeList, KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { sleep } from '../../lib/abort.ts';
import { Backoff } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { turns } from '../../lib/turn-queue.ts';

/** Takes in the state of a resource: first a list, then changes; a list again whenever the server lost the history between. */
export interface ReflectorSink<T extends KubeObject> {
  listBegins(): void;
  listed(object: T): void;
  /** An object that may have been listed was deleted before the list was complete. */
  unlisted(object: T): void;
  /** Everything that exists has been given. May take several turns; no change comes before it resolves. */
  listEnds(): Promise<void> | void;
  changed(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** It did not take everything and has room now: asked after every change. */
  wantsList?(): boolean;
}

export interface ReflectorOptions<T extends KubeObject> {
  resource: ResourceClient<T>;
  clock: Clock;
  log: Log;
  labelSelector?: string;
  fieldSelector?: string;
  /** Objects in a page, from servers that do not send initial events. */
  pageSize?: number;
}

/** After so many objects it is asked whether others want the event loop: neither a long list nor a burst of changes must hold it. */
export const OBJECTS_PER_STEP = 16;
const RELIST_BACKOFF = { initialMs: 500, maxMs: 30_000 };

export class Reflector<T extends KubeObject> {
  #options: ReflectorOptions<T>;
  #sink: ReflectorSink<T>;
  /** False once a server refused to send initial events. */
  #streams = true;
  #handled = 0;

  constructor(options: ReflectorOptions<T>, sink: ReflectorSink<T>) {
    this.#options = options;
    this.#sink = sink;
  }

  /** Lists and watches until the signal fires. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, resource } = this.#options;
    const backoff = new Backoff(RELIST_BACKOFF);
    while (!signal.aborted) {
      try {
        await this.#listAndWatch(signal, () => backoff.reset());
        // Expired, or broken before the list was complete: a server that is down ends a watch like this as soon as it began.
        await sleep(clock, backoff.next(), signal).catch(() => {});
      } catch (error) {
        if (signal.aborted) return;
        if (this.#streams && refusesStreaming(error)) {
          this.#streams = false;
          continue;
        }
        log.warn('cannot watch, will list again', { resource: resource.kind.plural, group: resource.kind.group, error });
        await sleep(clock, backoff.next(), signal).catch(() => {});
      }
    }
  }

  async #listAndWatch(signal: AbortSignal, onListed: () => void): Promise<void> {
    const { resource, labelSelector, fieldSelector } = this.#options;
    const selection: WatchOptions = { labelSelector, fieldSelector, signal };
    this.#sink.listBegins();
    if (this.#streams) {
      await this.#follow(resource.watch({ ...selection, sendInitialEvents: true }), true, onListed);
      return;
    }
    const resourceVersion = await this.#listPages(selection);
    await this.#sink.listEnds();
    onListed();
    await this.#follow(resource.watch({ ...selection, resourceVersion }), false, onListed);
  }

  /** One page in memory at a time; in one piece when the server forgets the snapshot between two. @returns the version of the list */
  async #listPages(selection: Pick<WatchOptions, 'labelSelector' | 'fieldSelector' | 'signal'>): Promise<string | undefined> {
    const { resource, pageSize = PAGE_SIZE } = this.#options;
    let limit: number | undefined = pageSize;
    let page: KubeList<T> | undefined;
    do {
      try {
        page = await resource.list({ ...selection, limit, continue: page?.metadata.continue || undefined });
      } catch (error) {
        if (page === undefined || !isExpired(error)) throw error;
        this.#sink.listBegins();
        [page, limit] = [undefined, undefined];
        continue;
      }
      for (const item of page.items) {
        this.#sink.listed(typed(item, page));
        if (++this.#handled % OBJECTS_PER_STEP === 0) await turns.share();
      }
    } while (page === undefined || page.metadata.continue);
    return page.metadata.resourceVersion;
  }

  async #follow(updates: AsyncIterable<WatchUpdate<T>>, startsWithList: boolean, onListed: () => void): Promise<void> {
    let listing = startsWithList;
    for await (const update of updates) {
      switch (update.type) {
        case 'SYNCED':
          await this.#sink.listEnds();
          listing = false;
          onListed();
          break;
        case 'EXPIRED':
          return;
        case 'BOOKMARK':
          break;
        case 'ADDED':
        case 'MODIFIED':
        case 'DELETED':
          if (!listing) this.#sink.changed(update.type, update.object);
          else if (update.type === 'DELETED') this.#sink.unlisted(update.object);
          else this.#sink.listed(update.object);
          if (!listing && this.#sink.wantsList?.()) return;
      }
      if (++this.#handled % OBJECTS_PER_STEP === 0) await turns.share();
    }
  }
}

/** Items of a list do not repeat the apiVersion and kind that their list implies. */
function typed<T extends KubeObject>(item: T, list: { apiVersion: string; kind: string }): T {
  return item.kind ? item : { ...item, apiVersion: list.apiVersion, kind: list.kind.replace(/List$/, '') };
}

/** Invalid or BadRequest: the server does not know initial events, or has them switched off. */
function refusesStreaming(error: unknown): boolean {
  return isStatusError(error) && (error.code === 422 || error.code === 400);
}

export function nextTurn(): Promise<void> {
  return turns.next();
}
