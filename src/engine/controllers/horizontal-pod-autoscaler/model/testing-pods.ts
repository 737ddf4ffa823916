import type { Json, KubeObject } from '../../../../kube/object.ts';
import { formatTime } from '../../../../kube/time.ts';
import type { PodMetrics } from './usage.ts';

export const NOW = Date.parse('2026-01-01T12:00:00Z');
const MINUTE = 60_000;

/** `r`unning and ready, `u`nready ever since, `h`ot (has just started), `p`ending, `f`ailed, `d`eleted. */
export type PodState = 'r' | 'u' | 'h' | 'p' | 'f' | 'd';

const LONG_AGO = { startTime: NOW - 20 * MINUTE, changed: NOW - 20 * MINUTE, ready: 'True', phase: 'Running' };
const STATES: Record<PodState, { startTime: number; changed: number; ready: string; phase: string }> = {
  r: LONG_AGO,
  d: LONG_AGO,
  u: { ...LONG_AGO, ready: 'False' },
  h: { startTime: NOW, changed: NOW, ready: 'True', phase: 'Running' },
  p: { ...LONG_AGO, ready: 'False', phase: 'Pending' },
  f: { ...LONG_AGO, ready: 'False', phase: 'Failed' },
};

/** `pod-0`, `pod-1` ... with two containers that request the same each. */
export function podsIn(states: string, requests: readonly string[] = []): KubeObject[] {
  return Array.from(states, (state, i) => aPod(`pod-${i}`, state as PodState, requests[i]));
}

export function aPod(name: string, state: PodState = 'r', request?: string, resource = 'cpu'): KubeObject {
  const { startTime, changed, ready, phase } = STATES[state];
  const resources = request === undefined ? undefined : { requests: { [resource]: request } };
  const at = (time: number) => formatTime(new Date(time));
  const deleted: Json = state === 'd' ? { deletionTimestamp: at(NOW) } : {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...deleted },
    spec: {
      containers: [
        { name: 'container1', resources },
        { name: 'container2', resources },
      ],
    },
    status: { phase, startTime: at(startTime), conditions: [{ type: 'Ready', status: ready, lastTransitionTime: at(changed) }] },
  };
}

/** Of `pod-0`, `pod-1` ..., measured over the last minute. */
export function metricsOf(levels: readonly number[]): PodMetrics {
  return new Map(levels.map((value, i) => [`pod-${i}`, { value, atMs: NOW, windowMs: MINUTE }]));
}
