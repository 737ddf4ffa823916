import { expect, test } from 'vitest';
import { goDuration, podMetrics } from './metrics-objects.ts';

test.each([
  [10_000, '10s'],
  [15_061.4, '15.061s'],
  [60_500, '1m0.5s'],
  [3_600_000, '1h0m0s'],
  [250, '250ms'],
])('%d ms are %s', (ms, text) => {
  expect(goDuration(ms)).toBe(text);
});

test('what is said of a Pod is true of each of its containers', () => {
  const container = (name: string, second: number, windowMs: number) => ({
    name,
    cpuNanocores: 1,
    memoryBytes: 1,
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)),
    windowMs,
  });
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'b' } };
  const metrics = podMetrics(pod, { containers: [container('c', 5, 10_000), container('d', 3, 20_000)] }, new Date(0));
  expect(metrics).toMatchObject({ timestamp: '2026-01-01T00:00:03Z', window: '20s' });
});
