import type { Json, KubeObject } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import { formatTime } from '../../../../kube/time.ts';
import type { PodUsage, Usage } from './summary.ts';

export const METRICS_GROUP = 'metrics.k8s.io';
export const METRICS_VERSION = 'v1beta1';
const API_VERSION = `${METRICS_GROUP}/${METRICS_VERSION}`;

/** How long kubelets measure before they name a rate. */
const WINDOW = '10s';

export function nodeMetrics(node: KubeObject, usage: Usage, now: Date): KubeObject {
  return { kind: 'NodeMetrics', apiVersion: API_VERSION, metadata: metadataOf(node, now), ...measured(usage.at), usage: amounts(usage) };
}

/** `usage` has at least one container. */
export function podMetrics(pod: KubeObject, { containers }: PodUsage, now: Date): KubeObject {
  // The oldest counts: what is said of all is true from then on.
  const at = new Date(Math.min(...containers.map((container) => container.at.getTime())));
  return {
    kind: 'PodMetrics',
    apiVersion: API_VERSION,
    metadata: metadataOf(pod, now),
    ...measured(at),
    containers: containers.map((container) => ({ name: container.name, usage: amounts(container) })),
  };
}

export function metricsList(kind: 'NodeMetrics' | 'PodMetrics', items: readonly KubeObject[]): Json {
  return { kind: `${kind}List`, apiVersion: API_VERSION, metadata: {}, items };
}

function metadataOf({ metadata }: KubeObject, now: Date): Json {
  const { name, namespace, labels } = metadata;
  return { name, ...(namespace && { namespace }), creationTimestamp: formatTime(now), ...(labels && { labels }) };
}

function measured(at: Date): Json {
  return { timestamp: formatTime(at), window: WINDOW };
}

function amounts({ cpuNanocores, memoryBytes }: Usage): Record<string, string> {
  return {
    cpu: new Quantity(BigInt(Math.round(cpuNanocores)), 'DecimalSI').toString(),
    memory: Quantity.of(Math.round(memoryBytes), 'BinarySI').toString(),
  };
}
