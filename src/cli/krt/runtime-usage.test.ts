import { describe, expect, it } from 'vitest';
import type { Run, RunStatus } from '../../api/kruntimes.io/v1alpha1/run.ts';
import type { Runtime } from '../../api/kruntimes.io/v1alpha1/runtime.ts';
import type { KubeObject } from '../../kube/object.ts';
import { percentiles, runtimeUsages } from './runtime-usage.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const at = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
let count = 0;
const aRun = (age: number, status?: RunStatus, runtime = 'bash', requests?: Record<string, number>): Run => ({
  apiVersion: 'v',
  kind: 'Run',
  metadata: { name: `r-${count++}`, namespace: 'ns', creationTimestamp: at(age) },
  spec: { runtime, mode: { task: {} }, ...(requests ? { resources: { requests } } : {}) },
  ...(status ? { status } : {}),
});
const aRuntime = (name: string): Runtime => ({
  apiVersion: 'v',
  kind: 'Runtime',
  metadata: { name, namespace: 'ns' },
  spec: { template: { spec: { containers: [] } } },
});
const aPod = (runtime: string, runs: string, types: string[], deletionTimestamp?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', labels: { runtime }, annotations: { 'kruntimes.io/capacity.runs': runs }, deletionTimestamp },
  status: { conditions: types.map((type) => ({ type, status: 'True' })) },
});
const ready = ['Ready', 'kruntimes.io/RuntimedReady'];

describe('runtimeUsages', () => {
  it('counts places on Pods that take Runs, what runs there, and what waits', () => {
    const state = {
      runtimes: [aRuntime('python'), aRuntime('bash')],
      pods: [aPod('bash', '4', ready), aPod('bash', '4', ['Ready']), aPod('bash', '4', ready, at(1))],
      runs: [
        aRun(5, { phase: 'Running', assignedPod: 'p' }),
        aRun(5, { phase: 'Scheduled', assignedPod: 'p' }, 'bash', { runs: 2 }),
        aRun(30),
        aRun(90, { phase: 'Pending' }),
      ],
      finished: [aRun(100, { phase: 'Succeeded', startTime: at(98), completionTime: at(93) })],
    };
    const [bash, python] = runtimeUsages(state, NOW);
    expect(bash).toMatchObject({ runtime: 'bash', pods: 3, readyPods: 1, capacity: 4, active: 3, waiting: 2, longestWait: 90_000 });
    expect([bash.waits, bash.durations]).toEqual([
      { p50: 2000, p95: 2000 },
      { p50: 5000, p95: 5000 },
    ]);
    expect(python).toMatchObject({ runtime: 'python', pods: 0, capacity: 0, active: 0, waiting: 0 });
    expect(python.longestWait).toBeUndefined();
  });

  it('shows Runs for a Runtime that there is not', () => {
    const [usage] = runtimeUsages({ runtimes: [], pods: [], runs: [aRun(1, undefined, 'nosuch')], finished: [] }, NOW);
    expect(usage).toMatchObject({ runtime: 'nosuch', isMissing: true, waiting: 1 });
  });
});

describe('percentiles', () => {
  it('are values that there were', () => {
    expect(percentiles(Array.from({ length: 100 }, (_, index) => 100 - index))).toEqual({ p50: 50, p95: 95 });
    expect(percentiles([7, undefined])).toEqual({ p50: 7, p95: 7 });
    expect(percentiles([undefined])).toBeUndefined();
  });
});
