import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { KubeObject } from '../../../kube/object.ts';
import type { Clock } from '../../../lib/clock.ts';
import { SpdyConnection } from '../../../lib/spdy/spdy-connection.ts';
import type { ObjectReader } from '../registry/objects.ts';
import { nodeRefusal } from './node-answer.ts';
import type { NodeConnections } from './node-connections.ts';
import { nodeOf, podPath } from './pod-location.ts';

const PROTOCOL = 'portforward.k8s.io';

/** A connection to a port of a Pod, through its node, as kubectl's port-forward has it. */
export async function dialThroughNode(
  connections: NodeConnections,
  reader: ObjectReader,
  pod: KubeObject,
  port: number,
  clock: Clock,
): Promise<Duplex> {
  const outgoing = await connections.open(nodeOf(reader, pod), {
    method: 'POST',
    path: podPath('portForward', pod),
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': PROTOCOL },
  });
  const { socket, head } = await new Promise<{ socket: Duplex; head: Buffer }>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('upgrade', (_answer: IncomingMessage, upgraded: Duplex, first: Buffer) => resolve({ socket: upgraded, head: first }));
    outgoing.once('response', (answer) => {
      nodeRefusal(answer, 'pods/proxy', pod.metadata.name!).then(reject, reject);
    });
    outgoing.end();
  });
  const connection = new SpdyConnection(socket, { role: 'client', clock }, head);
  const headers = { port: String(port), requestid: '0' };
  const errors = connection.open({ streamtype: 'error', ...headers });
  const data = connection.open({ streamtype: 'data', ...headers });
  data.on('error', () => {});
  errors.on('error', () => {});
  errors.on('data', (chunk: Buffer) => data.destroy(new Error(chunk.toString())));
  data.once('close', () => connection.close());
  await data.accepted;
  return data;
}
