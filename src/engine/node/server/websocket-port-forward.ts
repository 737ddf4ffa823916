import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { messageSocket } from '../../../client/streams/message-socket.ts';
import { badRequestError } from '../../../kube/status.ts';
import { ChannelConnection } from '../../../lib/channels/channel-connection.ts';
import { TUNNELLED_PORT_FORWARD, V4, V4_BASE64 } from '../../../lib/channels/remote-command.ts';
import type { PodAccess, PodTarget } from './pod-access.ts';
import { forwardPort } from './port-forward.ts';

export const WEBSOCKET_PORT_FORWARD_PROTOCOLS = [TUNNELLED_PORT_FORWARD, V4, V4_BASE64, ''];

/** @throws StatusError in the kubelet's words. */
export function parsePorts(query: URLSearchParams): number[] {
  const values = query.getAll('port');
  if (values.length === 0) throw badRequestError('query parameter "port" is required');
  return values.flatMap((value) => {
    if (value === '') throw badRequestError('query parameter "port" cannot be empty');
    return value.split(',').map((text) => {
      const port = Number(text);
      if (!/^\d+$/.test(text) || port > 0xffff) throw badRequestError(`unable to parse "${value}" as a port`);
      if (port < 1) throw badRequestError(`port "${value}" must be > 0`);
      return port;
    });
  });
}

/** The form without SPDY: two channels per port, one connection each, begun with the port's number in two bytes. */
export async function servePortChannels(
  webSocket: WebSocket,
  protocol: string,
  ports: number[],
  access: PodAccess,
  target: PodTarget,
): Promise<void> {
  const connection = new ChannelConnection(messageSocket(webSocket), {
    encoding: protocol === V4_BASE64 ? 'base64' : 'binary',
    closeSignal: 'none',
  });
  const forwarded = ports.map(async (port, index) => {
    const data = Duplex.from({ readable: connection.readable(index * 2), writable: connection.writable(index * 2) });
    const errors = connection.writable(index * 2 + 1);
    for (const stream of [data, errors]) stream.on('error', () => {}).write(Buffer.from([port & 0xff, port >> 8]));
    // A channel cannot be ended by the client, so it is over when the Pod's side is.
    const dial = async (): Promise<Duplex> => {
      const remote = await access.dial(target, port);
      remote.once('end', () => remote.destroy());
      return remote;
    };
    await forwardPort({ dial }, target, port, data, errors);
  });
  await Promise.race([Promise.allSettled(forwarded), connection.closed]);
  connection.close();
  await connection.closed;
}
