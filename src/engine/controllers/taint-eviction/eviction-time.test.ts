import { expect, test } from 'vitest';
import type { Taint, Toleration } from '../../../kube/generated/core-v1.ts';
import { evictionTime } from './eviction-time.ts';

const NOW = Date.parse('2026-01-01T00:00:10Z');
const gone: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' };
const tolerate = (tolerationSeconds?: number): Toleration => ({
  key: gone.key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});

test.each<[string, Taint[], Toleration[], number | undefined]>([
  ['nothing is tainted', [], [], undefined],
  ['only new Pods are kept off', [{ key: 'k', effect: 'NoSchedule' }], [], undefined],
  ['it tolerates nothing', [gone], [], NOW],
  ['it tolerates for ever', [gone], [tolerate()], undefined],
  ['it tolerates for a while', [gone], [tolerate(300)], Date.parse('2026-01-01T00:05:00Z')],
  ['its time is over', [gone], [tolerate(5)], NOW],
  ['it tolerates not at all', [gone], [tolerate(0)], NOW],
  ['of two tolerations the shorter counts', [gone], [tolerate(300), tolerate(60)], Date.parse('2026-01-01T00:01:00Z')],
  ['it tolerates one of two', [gone, { key: 'k', effect: 'NoExecute' }], [tolerate()], NOW],
])('a Pod has to leave, or may stay, when %s', (_name, taints, tolerations, expected) => {
  expect(evictionTime(taints, tolerations, NOW)).toBe(expected);
});
