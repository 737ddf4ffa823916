import { headerValues, type Headers } from './identity-headers.ts';

/** Browsers cannot set headers on a WebSocket, so the token travels among the subprotocols it offers. */
export const TOKEN_PROTOCOL_PREFIX = 'base64url.bearer.authorization.k8s.io.';

/** Undefined when none was offered. @throws Error for more than one, or one that is no token. */
export function webSocketToken(headers: Headers): string | undefined {
  const upgrade = headerValues(headers, 'upgrade')[0] ?? '';
  if (upgrade.toLowerCase() !== 'websocket') return undefined;
  const offered = headerValues(headers, 'sec-websocket-protocol').flatMap((line) => line.split(',').map((protocol) => protocol.trim()));
  const tokens = offered.filter((protocol) => protocol.startsWith(TOKEN_PROTOCOL_PREFIX));
  if (tokens.length === 0) return undefined;
  if (tokens.length > 1) throw new Error('multiple base64.bearer.authorization tokens specified');
  if (offered.length === 1) throw new Error('missing additional subprotocol');
  const token = Buffer.from(tokens[0].slice(TOKEN_PROTOCOL_PREFIX.length), 'base64url').toString('utf8');
  if (token === '' || token.includes('\ufffd')) throw new Error('invalid base64.bearer.authorization token encoding');
  return token;
}

/** The protocols of a WebSocket without the token: no server behind this one may see it. */
export function protocolsWithoutToken(protocols: string): string {
  return protocols
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => !protocol.startsWith(TOKEN_PROTOCOL_PREFIX))
    .join(', ');
}
