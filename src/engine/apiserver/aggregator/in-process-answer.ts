import type { IncomingMessage } from 'node:http';
import { plainHeaders, type HttpAnswer } from '../../../client/http/exchange.ts';
import { readBody, readEvents } from '../../../client/http/read-body.ts';
import type { InMemoryHandler, TransportResponse } from '../../../client/transport.ts';
import type { UserInfo } from '../auth/user.ts';
import type { ApiRequest, RequestBody } from '../chain/request.ts';
import type { RemoteApi } from './api-service.ts';
import { backendErrorText, type Backend } from './backend.ts';
import { requestHeaders } from './forwarded-headers.ts';

export type InProcessAnswer = Awaited<ReturnType<InMemoryHandler>>;

type ForwardedRequest = Pick<ApiRequest, 'method' | 'info' | 'query' | 'headers' | 'body' | 'signal'>;

/**
 * The answer of an aggregated server to a caller inside the process, decoded. What a caller on a socket would have got as plain text
 * (the server is gone, it redirects) comes as the same text.
 */
export async function inProcessAnswer(
  backend: Backend,
  request: ForwardedRequest,
  user: UserInfo,
  api: RemoteApi,
): Promise<InProcessAnswer> {
  if (!api.available) return plainAnswer(503, 'service unavailable');
  const { signal } = request;
  const body = await encodedBody(request.body);
  let answer: HttpAnswer;
  try {
    answer = await send(backend, request, body, user, api);
  } catch (error) {
    if (signal.aborted) throw error;
    return plainAnswer(503, error instanceof Unreachable ? error.message : 'service unavailable');
  }
  const { status, headers } = answer;
  if (status >= 300 && status < 400 && status !== 304 && headers.location !== undefined) {
    answer.body.destroy();
    return plainAnswer(502, 'the backend attempted to redirect this request, which is not permitted');
  }
  if (request.info.verb === 'watch' && status < 300) return { status, headers, events: readEvents(answer, signal) };
  return { status, headers, body: await readBody(answer, signal) };
}

/** There was an address, and nobody who answers at it. */
class Unreachable extends Error {}

async function send(
  backend: Backend,
  { method, info, query, headers, signal }: ForwardedRequest,
  body: EncodedBody | undefined,
  user: UserInfo,
  api: RemoteApi,
): Promise<HttpAnswer> {
  const forwarded = requestHeaders({ accept: 'application/json', ...headers, ...body?.headers }, user, { uri: info.path });
  const path = query.size === 0 ? info.path : `${info.path}?${query.toString()}`;
  const outgoing = await backend.open(api, { method, path, headers: forwarded, signal });
  return new Promise((resolve, reject) => {
    outgoing.once('error', (error) =>
      reject(new Unreachable(`error trying to reach service: ${backendErrorText(error, api)}`, { cause: error })),
    );
    outgoing.once('response', (incoming: IncomingMessage) =>
      resolve({
        status: incoming.statusCode ?? 502,
        headers: plainHeaders(incoming.headers),
        body: incoming,
        complete: () => incoming.complete,
      }),
    );
    outgoing.end(body?.bytes);
  });
}

interface EncodedBody {
  bytes: Uint8Array;
  headers: Record<string, string>;
}

async function encodedBody(body: RequestBody): Promise<EncodedBody | undefined> {
  const read = await body.read();
  if ('value' in read && read.value === undefined) return undefined;
  const bytes = 'bytes' in read ? read.bytes : Buffer.from(typeof read.value === 'string' ? read.value : JSON.stringify(read.value));
  return { bytes, headers: { 'content-type': body.contentType || 'application/json', 'content-length': String(bytes.byteLength) } };
}

function plainAnswer(status: number, text: string): TransportResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
}
