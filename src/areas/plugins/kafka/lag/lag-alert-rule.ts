import { MANAGED_LABEL, PLATFORM_NAMESPACE } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Kind } from '../../../../kube/kind.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { LAG_FOR_MS, LAG_LIMIT_SECONDS } from './judge-lag.ts';
import { LAG_METRIC } from './lag-metrics.ts';

export const PrometheusRuleKind: Kind = {
  group: 'monitoring.coreos.com',
  version: 'v1',
  kind: 'PrometheusRule',
  plural: 'prometheusrules',
  namespaced: true,
};

const PART = 'events-alert';
/** Those that we keep. */
export const OWN_RULES = `${MANAGED_LABEL}=${PART}`;

/** The alert for clusters with Prometheus' operator. The same that the installation itself tells as a condition. */
export function lagAlertRule(): KubeObject {
  const rule = {
    alert: 'consumer_lag',
    expr: `quantile by (tenant, plugin, group) (0.99, ${LAG_METRIC}) > ${LAG_LIMIT_SECONDS}`,
    for: `${LAG_FOR_MS / 60_000}m`,
    labels: { severity: 'warning' },
    annotations: {
      summary: 'Events wait for plugin {{ $labels.plugin }} of tenant {{ $labels.tenant }}',
      description: 'The group {{ $labels.group }} is {{ $value | humanizeDuration }} behind. Lag never scales a plugin: look at its logs.',
    },
  };
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'tenantry-plugin-events', namespace: PLATFORM_NAMESPACE, labels: { [MANAGED_LABEL]: PART } },
    spec: { groups: [{ name: 'tenantry-plugin-events', rules: [rule] }] },
  };
}
