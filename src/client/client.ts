import type { Kind } from '../kube/kind.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Clock } from '../lib/clock.ts';
import { Discovery } from './discovery.ts';
import { Requests, type RequestOptions } from './requests.ts';
import { ResourceClient } from './resource-client.ts';
import type { Transport, TransportRequest } from './transport.ts';

/** A Kubernetes API, whichever engine serves it. */
export interface Client {
  readonly clock: Clock;
  readonly discovery: Discovery;
  /** The verbs of a Kind in one namespace, or in all when none is given (and for cluster-scoped Kinds). */
  resource<T extends KubeObject>(kind: Kind<T>, namespace?: string): ResourceClient<T>;
  /** The same, but answers carry metadata only (PartialObjectMetadata). */
  metadata(kind: Kind, namespace?: string): ResourceClient;
  /** Any request, with the same limits, back-off and errors. Resolves to the body. */
  request<T = unknown>(request: TransportRequest): Promise<T>;
  close(): Promise<void>;
}

export function createClient(transport: Transport, options: RequestOptions = {}): Client {
  const requests = new Requests(transport, options);
  return {
    clock: requests.clock,
    discovery: new Discovery(requests),
    resource: (kind, namespace) => new ResourceClient(requests, kind, namespace),
    metadata: (kind, namespace) => new ResourceClient(requests, kind, namespace, true),
    request: (request) => requests.send(request),
    close: () => requests.close(),
  };
}
