import type { Json, KubeObject } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import { formatTime } from '../../../../kube/time.ts';
import type { PodUsage, Usage } from './summary.ts';

export const METRICS_GROUP = 'metrics.k8s.io';
export const METRICS_VERSION = 'v1beta1';
const API_VERSION = `${METRICS_GROUP}/${METRICS_VERSION}`;

export function nodeMetrics(node: KubeObject, usage: Usage, now: Date): KubeObject {
  return {
    kind: 'NodeMetrics',
    apiVersion: API_VERSION,
    metadata: metadataOf(node, now),
    ...measured(usage.at, usage.windowMs),
    usage: amounts(usage),
  };
}

/** `usage` has at least one container. */
export function podMetrics(pod: KubeObject, { containers }: PodUsage, now: Date): KubeObject {
  // The oldest and the longest count: what is said of all must be true of each.
  const at = new Date(Math.min(...containers.map((container) => container.at.getTime())));
  const windowMs = Math.max(...containers.map((container) => container.windowMs));
  return {
    kind: 'PodMetrics',
    apiVersion: API_VERSION,
    metadata: metadataOf(pod, now),
    ...measured(at, windowMs),
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

function measured(at: Date, windowMs: number): Json {
  return { timestamp: formatTime(at), window: goDuration(windowMs) };
}

/** As Go prints a duration: `1m0.5s`. */
export function goDuration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms)) / 1000;
  if (seconds < 1) return `${Math.round(ms)}ms`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const rest = `${Number((seconds % 60).toFixed(3))}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}

function amounts({ cpuNanocores, memoryBytes }: Usage): Record<string, string> {
  return {
    cpu: new Quantity(BigInt(Math.round(cpuNanocores)), 'DecimalSI').toString(),
    memory: Quantity.of(Math.round(memoryBytes), 'BinarySI').toString(),
  };
}
