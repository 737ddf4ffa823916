import type { Json, ListMeta } from '../../../kube/object.ts';
import { failure } from '../../../kube/status.ts';
import { turns } from '../../../lib/turn-queue.ts';
import { StoreError, type Entry } from '../../store/store.ts';
import type { ApiRequest, ApiResponse, ListAnswer } from '../chain/request.ts';
import { encodeJson } from '../encoding/json.ts';
import type { Presenter } from '../encoding/presenter.ts';
import type { Resource } from '../registry/resource.ts';
import type { ObjectFilter } from '../watch/filter.ts';
import { collect } from './collect.ts';
import { decodeContinue, encodeContinue, type ContinueToken } from './continue-token.ts';
import type { ServerCore } from './core.ts';
import { validateListOptions } from './list-options.ts';
import { presenterFor } from './presentation.ts';
import { parseLimit, parseRevision, refuseFutureRevision } from './revisions.ts';
import { selectionOf } from './selection.ts';

export async function list(core: ServerCore, resource: Resource, request: ApiRequest): Promise<ApiResponse> {
  const { query } = request;
  validateListOptions(query, false);
  const presenter = presenterFor(core, resource, request);
  const selection = selectionOf(core, resource, request);
  const limit = parseLimit(query.get('limit'));
  const token = query.get('continue') ? decodeContinue(query.get('continue')!) : undefined;
  if (token !== undefined && token.revision > 0) refuseFutureRevision(core.store, String(token.revision));
  const revision = token === undefined ? requestedRevision(core, query) : token.revision > 0 ? token.revision : undefined;
  const collected = await collectOrExpire(core, selection, { revision, limit, token });

  const meta: ListMeta = { resourceVersion: String(collected.revision) };
  if (collected.lastKey !== undefined) {
    meta.continue = encodeContinue({ revision: collected.revision, after: collected.lastKey.slice(selection.keyPrefix.length) });
    if (!selection.selective) meta.remainingItemCount = core.store.count(selection.keyPrefix, collected.lastKey);
  }
  return { status: 200, body: { kind: 'list', list: listAnswer(presenter, meta, collected.entries) } };
}

/** The exact revision a list is to be read at; undefined for the newest. */
function requestedRevision(core: ServerCore, query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion');
  refuseFutureRevision(core.store, text);
  const revision = parseRevision(text);
  if (revision === undefined || revision === 0) return undefined;
  const match = query.get('resourceVersionMatch');
  const exact = match === 'Exact' || (!match && query.get('limit') !== null && parseLimit(query.get('limit')) > 0);
  return exact ? revision : undefined;
}

async function collectOrExpire(
  core: ServerCore,
  selection: ObjectFilter,
  { revision, limit, token }: { revision: number | undefined; limit: number; token: ContinueToken | undefined },
) {
  const after = token === undefined ? undefined : selection.keyPrefix + token.after;
  try {
    return await collect(core.store, selection, { revision, after, limit });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'Compacted') throw error;
    if (token === undefined) throw failure('Expired', `The resourceVersion for the provided list is too old.`);
    const expired = failure(
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
        'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
        'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
        'deleted between the time the first chunk was returned and now may show up in the list.',
    );
    expired.status.metadata = { continue: encodeContinue({ revision: -1, after: token.after }) };
    throw expired;
  }
}

const CHUNK_BYTES = 256 * 1024;
const SLICE_MS = 2;
/** Items that a caller in this process gets between two looks at the time. */
const ITEMS_PER_STEP = 16;
const COMMA = 0x2c;

export function listAnswer(presenter: Presenter, meta: ListMeta, entries: Entry[]): ListAnswer {
  const head = encodeJson(presenter.head(meta));
  const tail = encodeJson(presenter.tail);
  const answer: ListAnswer = {
    contentType: 'application/json',
    chunks: () => (presenter.verbatim ? verbatimChunks(head, entries, tail) : presentedChunks(presenter, head, entries, tail)),
    value: () => listValue(presenter, meta, entries),
  };
  if (presenter.verbatim) {
    let length = head.byteLength + tail.byteLength + Math.max(0, entries.length - 1);
    for (const entry of entries) length += entry.bytes.byteLength;
    answer.contentLength = length;
  }
  return answer;
}

/** Stored bytes gathered into large chunks: one copy, no parsing. The writer takes a pause between chunks. */
function* verbatimChunks(head: Uint8Array, entries: Entry[], tail: Uint8Array): Generator<Uint8Array> {
  let parts: Uint8Array[] = [head];
  let size = head.byteLength;
  const comma = Buffer.from([COMMA]);
  for (let i = 0; i < entries.length; i++) {
    if (i > 0) {
      parts.push(comma);
      size++;
    }
    parts.push(entries[i].bytes);
    size += entries[i].bytes.byteLength;
    if (size >= CHUNK_BYTES) {
      yield Buffer.concat(parts, size);
      parts = [];
      size = 0;
    }
  }
  parts.push(tail);
  yield Buffer.concat(parts, size + tail.byteLength);
}

async function* presentedChunks(presenter: Presenter, head: Uint8Array, entries: Entry[], tail: Uint8Array): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [head];
  let size = head.byteLength;
  let sliceStart = performance.now();
  const comma = Buffer.from([COMMA]);
  for (let i = 0; i < entries.length; i++) {
    const item = presenter.item(entries[i]);
    const bytes = item instanceof Promise ? await item : item;
    if (i > 0) parts.push(comma);
    parts.push(bytes);
    size += bytes.byteLength + 1;
    if (size >= CHUNK_BYTES) {
      yield Buffer.concat(parts);
      parts = [];
      size = 0;
    }
    if (performance.now() - sliceStart > SLICE_MS) {
      await turns.pause();
      sliceStart = performance.now();
    }
  }
  parts.push(tail);
  yield Buffer.concat(parts);
}

async function listValue(presenter: Presenter, meta: ListMeta, entries: Entry[]): Promise<Json> {
  const items: Json[] = [];
  for (const entry of entries) {
    const item = presenter.itemValue(entry);
    items.push(item instanceof Promise ? await item : item);
    if (items.length % ITEMS_PER_STEP === 0) await turns.share();
  }
  return presenter.listValue(meta, items);
}
