import type { Store } from '../../store/store.ts';

/** As kube-apiserver asks etcd to: what is older than one to two of these is forgotten. */
const COMPACT_EVERY_MS = 5 * 60 * 1000;

/**
 * Forgets the past at a steady pace, so that what a client may rely on (continue tokens, watches from an old revision) does not depend on
 * how busy the server is. A timer, because it is the passing of time that makes history old.
 */
export function compactRegularly(store: Store, everyMs = COMPACT_EVERY_MS): () => void {
  let mark = store.revision;
  const timer = setInterval(() => {
    if (mark > store.compactedRevision) store.compact(mark);
    mark = store.revision;
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
