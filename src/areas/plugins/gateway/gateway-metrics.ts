import type { MetricsRegistry } from '../../../lib/metrics.ts';

const LABELS = ['tenant', 'plugin', 'version'];

export interface CallMetrics {
  began(): void;
  ended(status: number | undefined, seconds: number): void;
}

/** What is counted of requests. Labels are names of installations, never what a caller wrote. */
export function gatewayMetrics(registry: MetricsRegistry) {
  const requests = registry.counter('tenantry_plugin_gateway_requests_total', 'Requests to plugins, by class of the answer.', [
    ...LABELS,
    'code',
  ]);
  const durations = registry.histogram('tenantry_plugin_gateway_request_duration_seconds', 'How long requests to plugins took.', LABELS);
  const inFlight = registry.gauge('tenantry_plugin_gateway_requests_in_flight', 'Requests to plugins that are under way.', LABELS);
  const refused = registry.counter('tenantry_plugin_gateway_refused_total', 'Requests that the gateway answered itself, by reason.', [
    'tenant',
    'plugin',
    'reason',
  ]);
  const retries = registry.counter('tenantry_plugin_gateway_retries_total', 'Requests sent again because they had reached no Pod.', [
    'tenant',
    'plugin',
  ]);
  return {
    call(tenant: string, plugin: string, version: string): CallMetrics {
      const labels = [tenant, plugin, version];
      return {
        began: () => inFlight.labels(...labels).inc(),
        ended(status, seconds) {
          inFlight.labels(...labels).dec();
          requests.labels(...labels, status === undefined ? 'none' : `${Math.floor(status / 100)}xx`).inc();
          durations.labels(...labels).observe(seconds);
        },
      };
    },
    refused: (tenant: string, plugin: string, reason: string) => refused.labels(tenant, plugin, reason).inc(),
    retried: (tenant: string, plugin: string) => retries.labels(tenant, plugin).inc(),
    /** A version that is gone is no longer told of. */
    forget(tenant: string, plugin: string, version: string): void {
      for (const code of ['1xx', '2xx', '3xx', '4xx', '5xx', 'none']) requests.remove(tenant, plugin, version, code);
      for (const family of [durations, inFlight]) family.remove(tenant, plugin, version);
    },
  };
}

export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;
