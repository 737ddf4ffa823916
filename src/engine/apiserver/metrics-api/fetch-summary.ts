import type { IncomingMessage } from 'node:http';
import type { KubeObject } from '../../../kube/object.ts';
import { goHttpError } from '../admission/webhook/go-http-error.ts';
import type { NodeConnections } from '../node-proxy/node-connections.ts';
import { nodeEndpoint } from '../node-proxy/node-endpoint.ts';

const PATH = '/stats/summary?only_cpu_and_memory=true';
const TIMEOUT_MS = 5000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Asks a node's kubelet. @throws Error when it does not answer, or not with JSON */
export async function fetchSummary(connections: NodeConnections, node: KubeObject): Promise<unknown> {
  const endpoint = nodeEndpoint(node);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const outgoing = await connections.open(endpoint, { method: 'GET', path: PATH, headers: { accept: 'application/json' }, signal });
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve).once('error', reject).end();
    });
    const text = await textOf(answer);
    if (answer.statusCode !== 200) throw new Error(`it answered ${answer.statusCode}: ${text.trim().slice(0, 200)}`);
    return JSON.parse(text);
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${TIMEOUT_MS} ms`, { cause: error });
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new Error(goHttpError(error as NodeJS.ErrnoException, endpoint.host), { cause: error });
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += (chunk as Buffer).length;
    if (size > MAX_BYTES) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}
