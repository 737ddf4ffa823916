import { randomBytes } from 'node:crypto';
import { WEBSOCKET } from './protocol-switch.ts';

/** Names and values in turn, as `rawHeaders` of Node: order, letters and repetitions stay. */
export type RawHeaders = readonly string[];

/** They are between two neighbours, RFC 9110 7.6.1; `expect` is answered here. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
];
/**
 * What only the gateway may say, and credentials: a plugin that got them could act as its caller. Cookies neither, in no direction: all
 * plugins of all tenants are one origin to a browser.
 */
const NOT_PASSED_ON = [
  'authorization',
  'cookie',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-prefix',
  'x-real-ip',
  'x-tenant-id',
  'x-correlation-id',
  'x-request-id',
  'x-user-id',
  'x-user-roles',
];
const NOT_PASSED_ON_PREFIXES = ['x-adapstory-', 'x-pdlc-'];
const NOT_PASSED_BACK = ['set-cookie', 'set-cookie2', 'x-correlation-id', 'x-response-id'];

export interface CallFacts {
  tenant: string;
  /** `plugin:<publisher>.<plugin>`, or the name of a user. */
  caller: string;
  correlationId: string;
  requestId: string;
  clientAddress: string;
  prefix: string;
  protocol: 'http' | 'https';
}

/** The headers that the plugin sees. */
export function requestHeaders(raw: RawHeaders, call: CallFacts): string[] {
  const named = connectionNames(raw);
  const kept = filtered(raw, (name) => !named.has(name) && !HOP_BY_HOP.includes(name) && !isOurs(name));
  const own: Record<string, string | undefined> = {
    'X-Tenant-Id': call.tenant,
    'X-User-Id': headerText(call.caller),
    'X-Correlation-Id': call.correlationId,
    'X-Request-Id': call.requestId,
    'X-Forwarded-For': call.clientAddress,
    'X-Forwarded-Proto': call.protocol,
    'X-Forwarded-Prefix': call.prefix,
    'X-Forwarded-Host': valueOf(raw, 'host'),
    // Said again: a body without its length would otherwise be taken for the next request by some.
    'Transfer-Encoding': valueOf(raw, 'transfer-encoding') === undefined ? undefined : 'chunked',
  };
  return [...kept, ...Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [name, value]))];
}

/** Names of users may have any letters, headers may not. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text);
}

/** The headers that the caller sees. */
export function responseHeaders(raw: RawHeaders, { correlationId, requestId }: Pick<CallFacts, 'correlationId' | 'requestId'>): string[] {
  const named = connectionNames(raw);
  const kept = filtered(raw, (name) => !named.has(name) && !HOP_BY_HOP.includes(name) && !NOT_PASSED_BACK.includes(name));
  return [...kept, 'X-Correlation-Id', correlationId, 'X-Response-Id', requestId];
}

/** Those of a switch to WebSockets, which are between neighbours and still meant for the plugin, and for the caller. */
export const WEBSOCKET_HEADERS: RawHeaders = ['Connection', 'Upgrade', 'Upgrade', WEBSOCKET];

/** Programs that see headers as variables (CGI, WSGI) read an underscore as a dash. */
function isOurs(name: string): boolean {
  const read = name.replaceAll('_', '-');
  return NOT_PASSED_ON.includes(read) || NOT_PASSED_ON_PREFIXES.some((prefix) => read.startsWith(prefix));
}

function filtered(raw: RawHeaders, keeps: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) if (keeps(raw[i].toLowerCase())) kept.push(raw[i], raw[i + 1]);
  return kept;
}

/** The headers that `Connection` names are between neighbours too. */
function connectionNames(raw: RawHeaders): Set<string> {
  const names = new Set<string>();
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i].toLowerCase() !== 'connection') continue;
    for (const name of raw[i + 1].split(',')) names.add(name.trim().toLowerCase());
  }
  // The length of a body is not the sender's to hide: without it two programs would see two different requests.
  for (const name of ['content-length', 'host']) names.delete(name);
  return names;
}

export function valueOf(raw: RawHeaders, wanted: string): string | undefined {
  for (let i = 0; i < raw.length; i += 2) if (raw[i].toLowerCase() === wanted) return raw[i + 1];
  return undefined;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** The caller's own id when it is a UUID that nobody mistakes, else a new one (version 7, in the order of time). */
export function idFrom(said: string | undefined, now: number): string {
  return said !== undefined && UUID.test(said) ? said.toLowerCase() : uuidV7(now);
}

function uuidV7(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
