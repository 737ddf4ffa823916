import { DURATION_BUCKETS, type Counter, type Histogram, type MetricsRegistry } from '../../../lib/metrics.ts';
import type { RequestInfo } from './request-info.ts';

interface Pair {
  total: Counter;
  seconds: Histogram;
}

const MAX_SERIES = 5000;

/** Counts and times requests by verb, resource and code. Labels come from the catalog and the code, never from names. */
export class RequestMetrics {
  readonly #pairs = new Map<string, Pair>();
  readonly #make: (verb: string, group: string, resource: string, subresource: string, code: string) => Pair;

  constructor(registry: MetricsRegistry) {
    const labels = ['verb', 'group', 'resource', 'subresource', 'code'];
    const total = registry.counter('apiserver_request_total', 'Requests answered.', labels);
    const seconds = registry.histogram(
      'apiserver_request_duration_seconds',
      'Time from the arrival of a request to its answer (to its acceptance, for watches).',
      labels.slice(0, 4),
      DURATION_BUCKETS,
    );
    this.#make = (verb, group, resource, subresource, code) => ({
      total: total.labels(verb, group, resource, subresource, code),
      seconds: seconds.labels(verb, group, resource, subresource),
    });
  }

  observe(info: RequestInfo, code: number, seconds: number): void {
    const unknown = code === 404 || code === 403 || code === 401;
    const resource = info.isResource && !unknown ? info.resource : '';
    const key = `${info.verb}|${info.group}|${resource}|${info.subresource}|${code}`;
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      if (this.#pairs.size >= MAX_SERIES) return;
      pair = unknown
        ? this.#make(info.verb, '', '', '', String(code))
        : this.#make(info.verb, info.group, resource, info.subresource, String(code));
      this.#pairs.set(key, pair);
    }
    pair.total.inc();
    pair.seconds.observe(seconds);
  }
}
