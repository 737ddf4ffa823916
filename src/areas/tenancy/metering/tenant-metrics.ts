import { OTHER_NAMESPACES, type Measure, type UsageRows } from '../../../api/tenantry.dev/v1alpha1/metering.ts';
import type { Counter, Family, MetricsRegistry } from '../../../lib/metrics.ts';

const BYTE_SECONDS = 2 ** 30 * 3600;
/** Beyond so many, namespaces share a series per tenant. */
const MOST_NAMESPACES = 2000;

const FAMILIES: Partial<Record<Measure, { name: string; help: string; factor?: number }>> = {
  cpuSeconds: { name: 'cpu_seconds_total', help: 'CPU requested by running Pods.' },
  cpuUsedSeconds: { name: 'cpu_used_seconds_total', help: 'CPU used, where metrics.k8s.io is served.' },
  memoryGiBHours: { name: 'memory_byte_seconds_total', help: 'Memory requested by running Pods.', factor: BYTE_SECONDS },
  memoryUsedGiBHours: {
    name: 'memory_used_byte_seconds_total',
    help: 'Memory used, where metrics.k8s.io is served.',
    factor: BYTE_SECONDS,
  },
  storageGiBHours: { name: 'storage_byte_seconds_total', help: 'Capacity of bound claims.', factor: BYTE_SECONDS },
  runs: { name: 'runs_total', help: 'Runs made.' },
  runSeconds: { name: 'run_seconds_total', help: 'Time that Runs ran.' },
};

/** What tenants used since this process began to look. */
export class TenantMetrics {
  readonly #families = new Map<Measure, { family: Family<Counter>; factor: number }>();
  /** By namespace: its tenant. */
  readonly #known = new Map<string, string>();

  constructor(metrics: MetricsRegistry) {
    for (const [measure, { name, help, factor = 1 }] of Object.entries(FAMILIES))
      this.#families.set(measure as Measure, {
        family: metrics.counter(`tenantry_tenant_${name}`, help, ['tenant', 'namespace']),
        factor,
      });
  }

  add(tenant: string, rows: UsageRows): void {
    for (const namespaces of rows.values()) {
      for (const [namespace, amounts] of namespaces) {
        const label = this.#label(tenant, namespace);
        for (const [measure, { family, factor }] of this.#families)
          if (amounts[measure]) family.labels(tenant, label).inc(amounts[measure] * factor);
      }
    }
  }

  /** The namespace is gone; so are its series. */
  forget(namespace: string): void {
    const tenant = this.#known.get(namespace);
    if (tenant === undefined) return;
    this.#known.delete(namespace);
    for (const { family } of this.#families.values()) family.remove(tenant, namespace);
  }

  #label(tenant: string, namespace: string): string {
    if (this.#known.has(namespace) || namespace === OTHER_NAMESPACES) return namespace;
    if (this.#known.size >= MOST_NAMESPACES) return OTHER_NAMESPACES;
    this.#known.set(namespace, tenant);
    return namespace;
  }
}
