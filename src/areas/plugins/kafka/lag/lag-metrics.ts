import type { Family, Gauge, MetricsRegistry } from '../../../../lib/metrics.ts';
import type { PartitionLag } from './partition-lag.ts';

export const LAG_METRIC = 'tenantry_plugin_consumer_lag_seconds';

type Labels = [tenant: string, plugin: string, topic: string, group: string, partition: string];

/** The lag of every partition, as it was seen last. What is no longer measured is no longer told. */
export class LagMetrics {
  readonly #family: Family<Gauge>;
  #told = new Map<string, Labels>();

  constructor(metrics: MetricsRegistry) {
    const help = 'For how long the oldest event waits that a consumer group of a plugin has not confirmed, as the broker has it.';
    this.#family = metrics.gauge(LAG_METRIC, help, ['tenant', 'plugin', 'topic', 'group', 'partition']);
  }

  tell(lags: readonly PartitionLag[]): void {
    const told = new Map<string, Labels>();
    for (const { tenant, plugin, topic, group, partition, seconds } of lags) {
      const labels: Labels = [tenant, plugin, topic, group, String(partition)];
      this.#family.labels(...labels).set(seconds);
      told.set(labels.join(' '), labels);
    }
    for (const [key, labels] of this.#told) if (!told.has(key)) this.#family.remove(...labels);
    this.#told = told;
  }
}
