import type { WatchEvent } from '../../../kube/watch-event.ts';
import { failure } from '../../../kube/status.ts';
import { turns } from '../../../lib/turn-queue.ts';
import type { Entry } from '../../store/store.ts';
import type { ApiRequest, ApiResponse, ByteSink } from '../chain/request.ts';
import type { Resource } from '../registry/resource.ts';
import { EventQueue } from '../watch/event-queue.ts';
import type { ObjectFilter } from '../watch/filter.ts';
import { eventRenderer, lineRenderer, type FrameRenderer } from '../watch/frames.ts';
import type { Watcher } from '../watch/hub.ts';
import { collect } from './collect.ts';
import type { ServerCore } from './core.ts';
import { isTrue, validateListOptions } from './list-options.ts';
import { presenterFor } from './presentation.ts';
import { parseRevision, refuseFutureRevision } from './revisions.ts';
import { selectionOf } from './selection.ts';

const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' };
const MIN_TIMEOUT_SECONDS = 1800;
const INITIAL_SLICE = 200;

interface Beginning {
  /** Events after this revision follow; undefined: the state of now comes first. */
  after: number | undefined;
  /** Ends the initial state with a bookmark that says so. */
  announceEnd: boolean;
}

/** Far more than one user's informers need; each open watch costs some kilobytes of memory. */
const MAX_WATCHES_PER_USER = 5000;

const openWatches = new WeakMap<object, Map<string, number>>();

/** Counts a user's open watches. @returns what to call when it ends */
function countWatch(core: ServerCore, user: string): () => void {
  let counts = openWatches.get(core.hub);
  if (counts === undefined) openWatches.set(core.hub, (counts = new Map<string, number>()));
  counts.set(user, (counts.get(user) ?? 0) + 1);
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    const left = counts.get(user)! - 1;
    if (left === 0) counts.delete(user);
    else counts.set(user, left);
  };
}

export function watch(core: ServerCore, resource: Resource, request: ApiRequest): ApiResponse {
  const { query } = request;
  if ((openWatches.get(core.hub)?.get(request.user.name) ?? 0) >= MAX_WATCHES_PER_USER) throw watchLimitError();
  validateListOptions(query, true);
  const presenter = presenterFor(core, resource, request);
  const filter = selectionOf(core, resource, request);
  refuseFutureRevision(core.store, query.get('resourceVersion'));
  const beginning = beginningOf(query);
  const timeoutMs = watchTimeoutMs(query.get('timeoutSeconds'));
  const bookmarks = isTrue(query.get('allowWatchBookmarks'));

  const open = <Chunk>(renderer: FrameRenderer<Chunk>, representation: string, sink: Sink<Chunk>): (() => void) => {
    const uncount = countWatch(core, request.user.name);
    const watcher = startWatcher(core, { filter, renderer, representation, beginning, bookmarks }, sink);
    // The server ends every watch in the end, so that clients spread over replicas and stale ones go away.
    const timer = setTimeout(() => watcher.cut(), timeoutMs);
    timer.unref();
    return () => {
      clearTimeout(timer);
      uncount();
      watcher.stop();
    };
  };
  return {
    status: 200,
    body: {
      kind: 'watch',
      start: (sink: ByteSink) => open(lineRenderer(presenter), presenter.id, sink),
      events: (signal) => {
        const queue = new EventQueue<WatchEvent>(signal);
        const stop = open(eventRenderer(presenter), `events/${presenter.id}`, queue);
        queue.onClose(stop);
        return queue;
      },
    },
  };
}

interface Sink<Chunk> {
  write(chunk: Chunk): boolean;
  drained(callback: () => void): void;
  end(): void;
}

function beginningOf(query: URLSearchParams): Beginning {
  const revision = parseRevision(query.get('resourceVersion'));
  if (query.has('sendInitialEvents')) {
    if (isTrue(query.get('sendInitialEvents'))) return { after: undefined, announceEnd: true };
    return { after: revision || -1, announceEnd: false };
  }
  if (revision === undefined || revision === 0) return { after: undefined, announceEnd: false };
  return { after: revision, announceEnd: false };
}

function watchTimeoutMs(text: string | null): number {
  const seconds = Number(text ?? 0);
  if (Number.isFinite(seconds) && seconds > 0) return Math.min(seconds, 24 * 3600) * 1000;
  return MIN_TIMEOUT_SECONDS * 1000 * (1 + Math.random());
}

function startWatcher<Chunk>(
  core: ServerCore,
  options: {
    filter: ObjectFilter;
    renderer: FrameRenderer<Chunk>;
    representation: string;
    beginning: Beginning;
    bookmarks: boolean;
  },
  sink: Sink<Chunk>,
): Watcher {
  const { beginning, renderer } = options;
  const now = core.store.revision;
  const after = beginning.after === undefined || beginning.after < 0 ? now : beginning.after;
  return core.hub.watch({
    filter: options.filter,
    renderer,
    representation: options.representation,
    after,
    bookmarks: options.bookmarks,
    initial: beginning.after === undefined ? () => initialState(core, options.filter, renderer, now, beginning.announceEnd) : undefined,
    write: (chunk) => sink.write(chunk as Chunk),
    drained: (callback) => sink.drained(callback),
    end: () => sink.end(),
  });
}

async function* initialState<Chunk>(
  core: ServerCore,
  filter: ObjectFilter,
  renderer: FrameRenderer<Chunk>,
  revision: number,
  announceEnd: boolean,
): AsyncGenerator<Chunk> {
  const { entries } = await collect(core.store, filter, { revision, limit: 0 });
  for (let start = 0; start < entries.length; start += INITIAL_SLICE) {
    const slice: Entry[] = entries.slice(start, start + INITIAL_SLICE);
    yield await renderer.added(slice);
    if (start + INITIAL_SLICE < entries.length) await turns.pause();
  }
  if (announceEnd) yield renderer.bookmark(revision, INITIAL_EVENTS_END);
}

function watchLimitError(): Error {
  return failure('TooManyRequests', `this user has ${MAX_WATCHES_PER_USER} watches open already, please close some and try again later`, {
    retryAfterSeconds: 5,
  });
}
