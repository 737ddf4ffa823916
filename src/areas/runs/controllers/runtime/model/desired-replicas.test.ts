import { describe, expect, it } from 'vitest';
import type { Runtime, RuntimeSpec } from '../../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { desiredReplicas, isSizedByWait, type Demand } from './desired-replicas.ts';

const idle: Demand = { queued: 0, active: 0, oldestWaitSeconds: 0, idleSeconds: 0, starting: 0, placesPerPod: 2 };

function aRuntime(spec: Partial<RuntimeSpec>): Runtime {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Runtime',
    metadata: { name: 'bash' },
    spec: { template: { spec: { containers: [] } }, ...spec },
  };
}

describe('desiredReplicas', () => {
  const scaled = { autoscaling: { minReplicas: 1, maxReplicas: 5 } };
  it.each<[string, Partial<RuntimeSpec>, number, Partial<Demand>, number]>([
    ['a fixed number', { replicas: 3 }, 0, { queued: 100 }, 3],
    ['none by choice', { replicas: 0 }, 0, { queued: 100 }, 0],
    ['one by default', {}, 0, {}, 1],
    ['the minimum at rest', scaled, 0, {}, 1],
    ['a short queue is left to what is there', scaled, 1, { queued: 3 }, 1],
    ['a longer queue brings more', scaled, 1, { queued: 9 }, 3],
    ['never above the maximum', scaled, 1, { queued: 900 }, 5],
    ['a long wait brings one more', scaled, 1, { queued: 1, oldestWaitSeconds: 6 }, 2],
    ['not while some still start', scaled, 1, { queued: 90, oldestWaitSeconds: 60, starting: 1 }, 1],
    ['from nothing at the first Run', { autoscaling: { minReplicas: 0, maxReplicas: 5 } }, 0, { queued: 1 }, 1],
    ['nothing stays nothing', { autoscaling: { minReplicas: 0, maxReplicas: 5 } }, 0, {}, 0],
    ['down one by one after a while', scaled, 4, { idleSeconds: 300 }, 3],
    ['not before', scaled, 4, { idleSeconds: 299 }, 4],
    ['not below what is used', scaled, 2, { active: 3, idleSeconds: 999 }, 2],
    ['to nothing, when allowed', { autoscaling: { minReplicas: 0, maxReplicas: 5 } }, 1, { idleSeconds: 300 }, 0],
    ['to the minimum only', scaled, 1, { idleSeconds: 999 }, 1],
  ])('%s', (_name, spec, current, demand, expected) => {
    expect(desiredReplicas(aRuntime(spec), current, { ...idle, ...demand })).toBe(expected);
  });
});

describe('isSizedByWait', () => {
  const scaled = { autoscaling: { minReplicas: 1, maxReplicas: 50, targetQueuedRuns: 3 } };
  it.each([0, 1, 2, 3, 4, 50])('is false of a queue of %d only when the wait changes nothing', (queued) => {
    const runtime = aRuntime(scaled);
    const sizes = [0, 1, 7].flatMap((current) =>
      [0, 3600].map((oldestWaitSeconds) => desiredReplicas(runtime, current, { ...idle, queued, oldestWaitSeconds })),
    );
    const [a, b, c, d, e, f] = sizes;
    const changes = a !== b || c !== d || e !== f;
    expect(isSizedByWait(runtime, queued)).toBe(changes);
  });

  it('is false of a Runtime with a fixed size', () => {
    expect(isSizedByWait(aRuntime({ replicas: 2 }), 1)).toBe(false);
  });
});
