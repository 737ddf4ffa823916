import type { Clock } from '../../../../lib/clock.ts';
import type { ServiceEndpoint, ServicePort } from './model/service-endpoints.ts';

const MAX_CLIENTS = 10_000;

/** Which endpoint a client gets: any, or the one it had, when the Service wants that. */
export class EndpointChoice {
  #clock: Clock;
  #random: () => number;
  #clients = new Map<string, { endpoint: string; until: number }>();

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** All endpoints, in the order in which to try them. */
  order(port: ServicePort, client: string): ServiceEndpoint[] {
    const endpoints = [...port.endpoints];
    for (let i = endpoints.length - 1; i > 0; i--) {
      const j = Math.floor(this.#random() * (i + 1));
      [endpoints[i], endpoints[j]] = [endpoints[j], endpoints[i]];
    }
    if (port.affinitySeconds === undefined) return endpoints;
    const known = this.#clients.get(client);
    if (!known || known.until < this.#clock.monotonic()) return endpoints;
    const first = endpoints.filter((endpoint) => keyOf(endpoint) === known.endpoint);
    return [...first, ...endpoints.filter((endpoint) => keyOf(endpoint) !== known.endpoint)];
  }

  remember(port: ServicePort, client: string, endpoint: ServiceEndpoint): void {
    if (port.affinitySeconds === undefined) return;
    this.#clients.delete(client);
    this.#clients.set(client, { endpoint: keyOf(endpoint), until: this.#clock.monotonic() + port.affinitySeconds * 1000 });
    if (this.#clients.size > MAX_CLIENTS) this.#clients.delete(this.#clients.keys().next().value!);
  }
}

function keyOf({ address, port }: ServiceEndpoint): string {
  return `${address}:${port}`;
}
