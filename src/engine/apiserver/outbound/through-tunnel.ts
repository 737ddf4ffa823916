import type { RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';

/** For a request that has its connection already: it is used for that request alone. */
export async function throughTunnel(tunnel: Duplex, options: RequestOptions): Promise<RequestOptions> {
  const { connect } = await import('node:tls');
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  const tls: ConnectionOptions = { socket: tunnel, ca, cert, key, servername, rejectUnauthorized };
  return { agent: false, createConnection: () => connect(tls) };
}
