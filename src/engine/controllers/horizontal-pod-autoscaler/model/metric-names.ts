import { goLabelSelector } from '../../../../kube/go-label-selector.ts';
import type { LabelSelector } from '../../../../kube/label-selector.ts';

/** What ScalingActive and events call a metric. */
export function externalName(metric: { name: string; selector?: LabelSelector }): string {
  return `external metric ${metric.name}(${goLabelSelector(metric.selector)})`;
}
