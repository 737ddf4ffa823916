import type { Clock } from '../../../lib/clock.ts';
import type { ApiRequest, ApiResponse } from '../chain/request.ts';
import type { ForeignVersion } from '../discovery/discovery.ts';
import { NodeConnections, type DialNode, type NodeIdentity } from '../node-proxy/node-connections.ts';
import type { ObjectWriter } from '../registry/objects.ts';
import { fetchSummary } from './fetch-summary.ts';
import { MetricsApi } from './metrics-api.ts';
import { NodeSummaries } from './node-summaries.ts';
import { MetricsRegistration } from './registration.ts';

export interface ResourceMetricsOptions {
  writer: ObjectWriter;
  clock: Clock;
  /** What we show to nodes. */
  identity: () => NodeIdentity;
  dial?: DialNode;
  onError: (error: unknown) => void;
}

/** `metrics.k8s.io` from the server itself, with no other server behind it. */
export class ResourceMetrics {
  readonly #registration: MetricsRegistration;
  readonly #connections: NodeConnections;
  readonly #api: MetricsApi;

  constructor({ writer, clock, identity, dial, onError }: ResourceMetricsOptions) {
    this.#connections = new NodeConnections(identity, dial);
    const summaries = new NodeSummaries({ clock, fetch: (node) => fetchSummary(this.#connections, node) });
    // A rate is measured between two questions: this is the first.
    this.#registration = new MetricsRegistration(writer, onError, (nodes) => void summaries.of(nodes));
    this.#api = new MetricsApi({ reader: writer, summaries, now: () => new Date(clock.now()) });
  }

  start(): void {
    this.#registration.start();
  }

  async stop(): Promise<void> {
    await this.#registration.stop();
    this.#connections.close();
  }

  versions(): readonly ForeignVersion[] {
    return this.#registration.versions();
  }

  /** Undefined for other APIs, and while it is not registered. */
  answer(request: ApiRequest): Promise<ApiResponse> | undefined {
    return this.versions().length === 0 ? undefined : this.#api.answer(request);
  }
}
