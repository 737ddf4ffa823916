import type { PluginManifest } from '../../../../api/adapstory.com/v1/plugin-manifest.ts';
import { InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import type { VersionTraffic } from './traffic-facts.ts';

export interface Breach {
  reason: string;
  message: string;
}

/** What is too much when the manifest does not say. */
const DEFAULT_ERROR_RATE = 0.05;
/** Fewer requests say nothing about a rate. */
const ENOUGH_REQUESTS = 20;
/** Of so few, more than half must not fail. */
const FIRST_REQUESTS = 5;
const HALF = 0.5;

/** Why the requests to a new version must not go on; undefined when all is well, or too little is known. */
export function gateBreach({ spec }: PluginManifest, { requests, errors, p99Ms }: VersionTraffic): Breach | undefined {
  const { errorRate = DEFAULT_ERROR_RATE, p99LatencyMs } = spec.runtime.upgrade?.healthGate?.slo ?? {};
  if (requests < FIRST_REQUESTS) return undefined;
  const isEnough = requests >= ENOUGH_REQUESTS;
  if (errors / requests > (isEnough ? errorRate : Math.max(errorRate, HALF))) {
    const message = `${errors} of ${requests} requests failed, more than the ${percent(errorRate)} of its health gate`;
    return { reason: InstallationReason.ErrorRateExceeded, message };
  }
  if (!isEnough) return undefined;
  if (p99LatencyMs !== undefined && p99Ms > p99LatencyMs) {
    const message = `one in a hundred of ${requests} requests took over ${Math.round(p99Ms)} ms, more than the ${p99LatencyMs} ms of its health gate`;
    return { reason: InstallationReason.LatencyExceeded, message };
  }
  return undefined;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}
