import { protocolsWithoutToken } from '../auth/authentication/web-socket-token.ts';
import type { UserInfo } from '../auth/user.ts';

export type HeaderValues = Record<string, string | string[] | undefined>;

/** About one connection only, never passed on. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** Token characters of RFC 7230; everything else of an extra's key is percent-encoded in the header's name. */
const HEADER_TOKEN = /[^!#$&'*+\-.^_`|~0-9A-Za-z]/g;

interface Forwarded {
  host?: string;
  address?: string;
  uri?: string;
}

/**
 * The headers of a request on its way to an aggregated server. Who the user is stands in X-Remote-*, set by us and believed
 * because of our certificate.
 */
export function requestHeaders(incoming: HeaderValues, user: UserInfo, forwarded: Forwarded): Record<string, string | string[]> {
  return Object.assign(forwardedHeaders(incoming, forwarded), identityHeaders(user));
}

/** The headers of a request on its way to another server. Whatever the client sent about who it is, and its credentials, stay here. */
export function forwardedHeaders(incoming: HeaderValues, forwarded: Forwarded): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const listed = connectionHeaders(incoming);
  for (const [name, value] of Object.entries(incoming)) {
    if (value === undefined || name.startsWith(':') || HOP_BY_HOP.has(name) || listed.has(name)) continue;
    if (isIdentity(name) || name === 'host') continue;
    headers[name] = name === 'sec-websocket-protocol' ? protocolsWithoutToken(String(value)) : value;
  }
  const before = incoming['x-forwarded-for'];
  if (forwarded.address) headers['x-forwarded-for'] = [before, forwarded.address].flat().filter(Boolean).join(', ');
  if (forwarded.host) headers['x-forwarded-host'] = forwarded.host;
  if (forwarded.uri) headers['x-forwarded-uri'] = forwarded.uri;
  headers['x-forwarded-proto'] = 'https';
  return headers;
}

function isIdentity(name: string): boolean {
  return name === 'authorization' || name.startsWith('x-remote-') || name.startsWith('impersonate-');
}

export function identityHeaders(user: UserInfo): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'X-Remote-User': user.name };
  if (user.uid) headers['X-Remote-Uid'] = user.uid;
  if (user.groups.length > 0) headers['X-Remote-Group'] = user.groups;
  for (const [key, values] of Object.entries(user.extra ?? {})) headers[`X-Remote-Extra-${escapeHeaderKey(key)}`] = values;
  return headers;
}

function escapeHeaderKey(key: string): string {
  return key.replace(HEADER_TOKEN, (character) => {
    let escaped = '';
    for (const byte of Buffer.from(character)) escaped += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    return escaped;
  });
}

/** The headers of an answer on its way back. */
export function responseHeaders(incoming: HeaderValues): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const listed = connectionHeaders(incoming);
  for (const [name, value] of Object.entries(incoming)) {
    if (value !== undefined && !HOP_BY_HOP.has(name) && !listed.has(name)) headers[name] = value;
  }
  return headers;
}

function connectionHeaders(headers: HeaderValues): Set<string> {
  const value = headers.connection;
  const text = Array.isArray(value) ? value.join(',') : (value ?? '');
  return new Set(text.split(',').map((name) => name.trim().toLowerCase()));
}
