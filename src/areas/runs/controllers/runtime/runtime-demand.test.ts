import { describe, expect, it } from 'vitest';
import type { Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Runtime } from '../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { formatTime } from '../../../../kube/time.ts';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { RuntimeDemand, type RuntimeQueues } from './runtime-demand.ts';

const runtime: Runtime = {
  apiVersion: 'kruntimes.io/v1alpha1',
  kind: 'Runtime',
  metadata: { namespace: 'a', name: 'bash', uid: 'u' },
  spec: { template: { spec: { containers: [] } }, autoscaling: { minReplicas: 1, maxReplicas: 9, scaleDownDelaySeconds: 60 } },
};

function aWaitingRun(created: number): Run {
  const metadata = { name: 'r', creationTimestamp: formatTime(new Date(created)) };
  return { apiVersion: 'kruntimes.io/v1alpha1', kind: 'Run', metadata, spec: { runtime: 'bash', mode: { task: {} } } };
}

describe('RuntimeDemand', () => {
  const queues = (found: Partial<RuntimeQueues>): RuntimeQueues => ({
    queued: () => 0,
    active: () => 0,
    waiting: () => {
      throw new Error('looked at the Runs of a queue that needs only be counted');
    },
    ...found,
  });

  it('counts a long queue and looks at none of it', () => {
    const demand = new RuntimeDemand(new FakeClock(), queues({ queued: () => 50_000, active: () => 16 }));
    expect(demand.replicas(runtime, 1, 1)).toMatchObject({ replicas: 9, queued: 50_000, active: 16 });
  });

  it('asks who has waited longest in a short one', () => {
    const clock = new FakeClock();
    const waiting = [aWaitingRun(clock.now() - 1000), aWaitingRun(clock.now() - 20_000), aWaitingRun(clock.now())];
    const demand = new RuntimeDemand(clock, queues({ queued: () => 3, waiting: () => waiting }));
    expect(demand.replicas(runtime, 1, 1).replicas).toBe(2);
  });

  it('lets a Pod go after a quiet while', async () => {
    const clock = new FakeClock();
    const demand = new RuntimeDemand(clock, queues({}));
    expect(demand.replicas(runtime, 2, 2).replicas).toBe(2);
    await clock.advance(60_000);
    expect(demand.replicas(runtime, 2, 2)).toMatchObject({ replicas: 1, quietMs: 60_000 });
  });
});
