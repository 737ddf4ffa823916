import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { flag } from '../query.ts';
import { refusal } from '../requests.ts';
import { TransportError } from '../transport-error.ts';
import type { Transport } from '../transport.ts';

export interface PodName {
  namespace: string;
  name: string;
}

export interface LogRequest {
  /** Needed where the Pod has several. */
  container?: string;
  follow?: boolean;
  /** Of the container's run before this one. */
  previous?: boolean;
  timestamps?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
  /** RFC 3339. */
  sinceTime?: string;
  limitBytes?: number;
  signal?: AbortSignal;
}

/** What a container writes, as it comes. Destroy the stream to stop following. @throws StatusError, TransportError */
export async function podLogs(transport: Transport, pod: PodName, request: LogRequest = {}): Promise<Readable> {
  const path = podPath(pod, 'log');
  if (transport.stream === undefined) {
    throw new TransportError('BadConfig', `Cannot read "${path}": this transport does not stream; use one over HTTP`);
  }
  const answer = await transport.stream({
    method: 'GET',
    path,
    query: {
      container: request.container,
      follow: flag(request.follow),
      previous: flag(request.previous),
      timestamps: flag(request.timestamps),
      tailLines: request.tailLines?.toString(),
      sinceSeconds: request.sinceSeconds?.toString(),
      sinceTime: request.sinceTime,
      limitBytes: request.limitBytes?.toString(),
    },
    headers: { accept: '*/*' },
    signal: request.signal,
  });
  if (answer.status < 400) return answer.body;
  const body = await text(answer.body);
  const isJson = answer.headers['content-type']?.includes('json') === true || body.startsWith('{');
  throw refusal({ ...answer, body: isJson ? (JSON.parse(body) as unknown) : body });
}

export function podPath({ namespace, name }: PodName, subresource: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/${subresource}`;
}
