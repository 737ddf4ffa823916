import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** What is about one connection and not about what passes through it. */
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
]);

/** What goes on of a message's headers, apart from those that `connection` names. */
export function passedOn(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name)));
}

/** Of who asked, and how. What the client says about itself is kept before what is seen of it. */
export function forwarded(headers: IncomingHttpHeaders, client: string, secure: boolean): OutgoingHttpHeaders {
  const before = headers['x-forwarded-for'];
  return {
    'x-forwarded-for': before === undefined ? client : `${Array.isArray(before) ? before.join(', ') : before}, ${client}`,
    'x-forwarded-proto': secure ? 'https' : 'http',
    ...(headers.host === undefined ? {} : { 'x-forwarded-host': headers.host }),
    'x-real-ip': client,
  };
}
