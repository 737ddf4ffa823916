import type { Duplex } from 'node:stream';
import { realClock, type Clock } from '../../lib/clock.ts';
import { TUNNELLED_PORT_FORWARD } from '../../lib/channels/remote-command.ts';
import { errorText } from '../../lib/log.ts';
import { TransportError } from '../transport-error.ts';
import type { Transport } from '../transport.ts';
import type { Patience } from '../../lib/spdy/spdy-connection.ts';
import { podPath, type PodName } from './pod-logs.ts';
import { connectSocket } from './remote-command.ts';

/** Connections to the ports of a Pod, through the API server. */
export interface PortForward {
  /** A new connection to a port. Fails with a TransportError when nothing listens there, at once or with the first byte. `signal`: until it is there. */
  open(port: number, signal?: AbortSignal): Promise<Duplex>;
  /** Resolves when the API server or the node has ended it. */
  closed: Promise<unknown>;
  close(): void;
}

/** @throws StatusError, TransportError */
export async function podPortForward(
  transport: Transport,
  pod: PodName,
  { signal, clock = realClock, patience }: { signal?: AbortSignal; clock?: Clock; patience?: Patience } = {},
): Promise<PortForward> {
  const path = podPath(pod, 'portforward');
  const { webSocket } = await connectSocket(transport, path, {}, [TUNNELLED_PORT_FORWARD], signal);
  const [{ createWebSocketStream }, { SpdyConnection }] = await Promise.all([import('ws'), import('../../lib/spdy/spdy-connection.ts')]);
  const tunnel = createWebSocketStream(webSocket);
  webSocket.resume();
  const connection = new SpdyConnection(tunnel, { role: 'client', clock, patience });
  let requests = 0;
  return {
    async open(port, opening) {
      const headers = { port: String(port), requestid: String(requests++) };
      const errors = connection.open({ streamtype: 'error', ...headers });
      const data = connection.open({ streamtype: 'data', ...headers });
      const broken = (reason: string): TransportError =>
        new TransportError('ConnectionLost', `Cannot reach port ${port} of "${pod.name}": ${reason}`);
      errors.on('error', () => {});
      errors.on('data', (chunk: Buffer) => data.destroy(broken(chunk.toString())));
      // The other side may never end it.
      data.once('close', () => errors.destroy());
      const giveUp = () => data.destroy();
      opening?.addEventListener('abort', giveUp, { once: true });
      if (opening?.aborted) giveUp();
      try {
        await Promise.all([errors.accepted, data.accepted]);
      } catch (error) {
        giveUp();
        throw broken(errorText(error));
      } finally {
        opening?.removeEventListener('abort', giveUp);
      }
      // Nothing is said on it by us.
      errors.end();
      return data;
    },
    closed: connection.closed,
    close: () => connection.close(),
  };
}
