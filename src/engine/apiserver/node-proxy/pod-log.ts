import type { IncomingMessage } from 'node:http';
import { failure } from '../../../kube/status.ts';
import { goHttpError } from '../admission/webhook/go-http-error.ts';
import type { ApiRequest, ApiResponse } from '../chain/request.ts';
import type { ObjectReader } from '../registry/objects.ts';
import { logParameters } from './connect-options.ts';
import { nodeRefusal } from './node-answer.ts';
import type { NodeConnections } from './node-connections.ts';
import { chooseContainer } from './pod-container.ts';
import { findNode, findPod, podPath } from './pod-location.ts';

/** `pods/log`: what a container wrote, from the node it runs on, as it comes. */
export async function answerLog(
  reader: ObjectReader,
  connections: NodeConnections,
  { info, query }: ApiRequest,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const parameters = logParameters(info.name, query);
  const pod = findPod(reader, info.namespace, info.name);
  const container = chooseContainer(pod, query.get('container') ?? '');
  const nodeName: string = pod.spec?.nodeName ?? '';
  // Nothing can have been written yet.
  if (nodeName === '') return { status: 204, body: { kind: 'raw', contentType: 'text/plain', bytes: new Uint8Array() } };
  const node = findNode(reader, nodeName);
  const path = `${podPath('containerLogs', pod, container)}?${parameters.toString()}`;
  const unverified = query.get('insecureSkipTLSVerifyBackend') === 'true';
  const outgoing = await connections.open(node, { method: 'GET', path, signal, unverified });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', (error) => {
      const url = `https://${node.host.includes(':') ? `[${node.host}]` : node.host}:${node.port}${path}`;
      reject(signal.aborted ? (signal.reason as Error) : failure('', `Get "${url}": ${goHttpError(error, node.host)}`));
    });
    outgoing.end();
  });
  if (answer.statusCode !== 200) throw await nodeRefusal(answer, 'pods/log', info.name);
  return { status: 200, body: { kind: 'stream', contentType: 'text/plain', stream: answer } };
}
