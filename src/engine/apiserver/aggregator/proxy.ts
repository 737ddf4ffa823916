import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { UserInfo } from '../auth/user.ts';
import type { RemoteApi } from './api-service.ts';
import { backendErrorText, type Backend } from './backend.ts';
import { requestHeaders, responseHeaders, type HeaderValues } from './forwarded-headers.ts';

export type ProxiedRequest = IncomingMessage | Http2ServerRequest;
export type ProxiedResponse = ServerResponse | Http2ServerResponse;

/** Discovery is asked by every client for everything: one slow server must not hold them up. */
const DISCOVERY_TIMEOUT_MS = 5000;

/**
 * Passes a request on to the server behind an APIService and its answer back, as they come: watches stream. The request is
 * authenticated and authorized already. Resolves when the answer is through, or the client is gone.
 */
export async function proxy(backend: Backend, req: ProxiedRequest, res: ProxiedResponse, user: UserInfo, api: RemoteApi): Promise<void> {
  if (!api.available) return plainError(res, 503, 'service unavailable');
  const path = req.url ?? '/';
  const abort = new AbortController();
  const timer = isDiscovery(path) ? setTimeout(() => abort.abort(), DISCOVERY_TIMEOUT_MS) : undefined;
  res.once('close', () => abort.abort());
  try {
    await forward(backend, req, res, user, api, abort.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** `/apis/group/version` and nothing behind it. */
function isDiscovery(path: string): boolean {
  return path.split('?')[0].split('/').filter(Boolean).length === 3;
}

async function forward(
  backend: Backend,
  req: ProxiedRequest,
  res: ProxiedResponse,
  user: UserInfo,
  api: RemoteApi,
  signal: AbortSignal,
): Promise<void> {
  const headers = requestHeaders(req.headers, user, {
    host: hostOf(req),
    address: req.socket?.remoteAddress,
    uri: req.url?.split('?')[0],
  });
  let outgoing;
  try {
    outgoing = await backend.open(api, { method: req.method ?? 'GET', path: req.url ?? '/', headers, signal });
  } catch {
    return plainError(res, 503, 'service unavailable');
  }
  await new Promise<void>((resolve) => {
    res.once('close', resolve);
    outgoing.on('error', (error) => {
      if (!res.headersSent) plainError(res, 503, `error trying to reach service: ${backendErrorText(error, api)}`);
      else res.destroy();
      resolve();
    });
    outgoing.on('response', (answer) => passBack(answer, res, resolve));
    req.pipe(outgoing);
  });
}

function passBack(answer: IncomingMessage, res: ProxiedResponse, done: () => void): void {
  const status = answer.statusCode ?? 502;
  if (status >= 300 && status < 400 && status !== 304 && answer.headers.location !== undefined) {
    answer.resume();
    plainError(res, 502, 'the backend attempted to redirect this request, which is not permitted');
    return done();
  }
  const response = res as ServerResponse;
  response.writeHead(status, responseHeaders(answer.headers));
  // A watch may have nothing to say for long; its client waits for the headers.
  response.flushHeaders?.();
  answer.on('error', () => {
    res.destroy();
    done();
  });
  answer.on('end', done);
  answer.pipe(response);
}

function hostOf(req: ProxiedRequest): string | undefined {
  const headers = req.headers as HeaderValues;
  const host = headers.host ?? headers[':authority'];
  return Array.isArray(host) ? host[0] : host;
}

/** As Go's http.Error writes it. */
export function plainError(res: ProxiedResponse, code: number, text: string): void {
  if (res.headersSent || res.destroyed) return;
  const response = res as ServerResponse;
  response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  response.end(`${text}\n`);
}
