import type { IncomingHttpHeaders } from 'node:http';

/** What a switch of protocols is decided by. */
export interface SwitchRequest {
  method?: string;
  headers: IncomingHttpHeaders;
}

export const WEBSOCKET = 'websocket';

/**
 * After a switch nobody looks at what passes. So there is one for WebSockets alone: behind any other protocol (h2c is HTTP) the caller could
 * ask the plugin whatever it likes, in anybody's name.
 */
export function isWebSocketRequest({ method, headers }: SwitchRequest): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === WEBSOCKET &&
    (headers.connection ?? '').split(',').some((name) => name.trim().toLowerCase() === 'upgrade') &&
    !hasBody(headers)
  );
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
