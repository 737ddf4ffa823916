import type { InMemoryHandler, TransportRequest } from '../../client/transport.ts';
import { turns } from '../../lib/turn-queue.ts';
import type { UserInfo } from './auth/user.ts';
import type { ApiServer } from './server.ts';

/**
 * The entrance for callers inside the process: the same chain as from a socket, after TLS, as the user given here. Objects travel as
 * values, never as bytes.
 */
export function inProcessHandler(server: ApiServer, user: UserInfo): InMemoryHandler {
  return async (request) => {
    let never: AbortController | undefined;
    const signal = () => request.signal ?? (never ??= new AbortController()).signal;
    const { response, warnings } = await server.handle({
      method: request.method,
      url: urlOf(request),
      headers: lowerCase(request.headers),
      identity: { user },
      body: { contentType: request.contentType ?? '', read: () => valueInTurn(request.body) },
      signal,
      sourceAddress: '',
    });
    const headers: Record<string, string> = { ...response.headers };
    if (warnings.length > 0) headers.warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ');
    const { status, body } = response;
    switch (body.kind) {
      case 'object':
        return { status, headers, body: await body.value() };
      case 'list':
        return { status, headers, body: await body.list.value() };
      case 'watch':
        return { status, headers, events: body.events(signal()) };
      case 'stream':
        return { status, headers: { 'content-type': body.contentType, ...headers }, stream: body.stream };
      case 'proxied':
        return body.decoded();
      case 'raw':
        return { status, headers: { 'content-type': body.contentType, ...headers }, body: Buffer.from(body.bytes).toString('utf8') };
    }
  };
}

/** The real work of a write begins with its body, and controllers begin many writes at once. */
async function valueInTurn(value: unknown): Promise<{ value: unknown }> {
  await turns.share();
  return { value };
}

function urlOf(request: TransportRequest): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    for (const each of Array.isArray(value) ? value : value === undefined ? [] : [value]) query.append(name, each);
  }
  return query.size === 0 ? request.path : `${request.path}?${query.toString()}`;
}

function lowerCase(headers: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
}
