import type { MetricsRegistry } from '../../../lib/metrics.ts';
import { REFUSALS } from './model/refusal.ts';

const LABELS = ['tenant', 'plugin', 'version'];

export interface CallMetrics {
  began(): void;
  ended(status: number | undefined, seconds: number): void;
  /** No Pod has seen anything of it. */
  unsent(): void;
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
  /** The versions that are told of. A request that outlives its version is not: it would bring the version's numbers back. */
  const told = new Map<string, object>();
  return {
    call(tenant: string, plugin: string, version: string): CallMetrics {
      const labels = [tenant, plugin, version];
      const key = labels.join('/');
      const own = told.get(key) ?? {};
      told.set(key, own);
      const over = (): void => {
        if (told.get(key) === own) inFlight.labels(...labels).dec();
      };
      return {
        began: () => inFlight.labels(...labels).inc(),
        unsent: over,
        ended(status, seconds) {
          over();
          if (told.get(key) !== own) return;
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
      told.delete([tenant, plugin, version].join('/'));
    },
    /** With its last version. */
    forgetInstallation(tenant: string, plugin: string): void {
      for (const reason of Object.keys(REFUSALS)) refused.remove(tenant, plugin, reason);
      retries.remove(tenant, plugin);
    },
  };
}

export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;
