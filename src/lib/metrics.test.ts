import { expect, test } from 'vitest';
import { MetricsRegistry } from './metrics.ts';

test('counters and gauges are exposed with their labels, escaped', () => {
  const registry = new MetricsRegistry();
  const requests = registry.counter('requests_total', 'Requests served.', ['verb', 'path']);
  const get = requests.labels('GET', 'a"b\\c\nd');
  get.inc();
  get.inc(2);
  registry.gauge('depth', 'Queue depth.').labels().set(1.5);
  expect(registry.expose()).toBe(
    [
      '# HELP requests_total Requests served.',
      '# TYPE requests_total counter',
      'requests_total{verb="GET",path="a\\"b\\\\c\\nd"} 3',
      '# HELP depth Queue depth.',
      '# TYPE depth gauge',
      'depth 1.5',
      '',
    ].join('\n'),
  );
});

test('histograms count a value in its bucket and all larger ones', () => {
  const registry = new MetricsRegistry();
  const seconds = registry.histogram('took_seconds', 'Took.', ['step'], [0.1, 1]).labels('a');
  for (const value of [0.1, 0.5, 3]) seconds.observe(value);
  expect(registry.expose().split('\n').slice(2, -1)).toEqual([
    'took_seconds_bucket{step="a",le="0.1"} 1',
    'took_seconds_bucket{step="a",le="1"} 2',
    'took_seconds_bucket{step="a",le="+Inf"} 3',
    'took_seconds_sum{step="a"} 3.6',
    'took_seconds_count{step="a"} 3',
  ]);
});

test('the same name gives the same family, and removed children are no longer exposed', () => {
  const registry = new MetricsRegistry();
  registry.counter('c_total', 'C.', ['x']).labels('1').inc();
  registry.counter('c_total', 'C.', ['x']).labels('1').inc();
  expect(registry.expose()).toContain('c_total{x="1"} 2');
  registry.counter('c_total', 'C.', ['x']).remove('1');
  expect(registry.expose()).not.toContain('x="1"');
});

test('beforeExpose runs first, and wrong label counts are refused', () => {
  const registry = new MetricsRegistry();
  const gauge = registry.gauge('g', 'G.').labels();
  registry.beforeExpose(() => gauge.set(42));
  expect(registry.expose()).toContain('g 42');
  expect(() => registry.counter('d_total', 'D.', ['x']).labels()).toThrow('Cannot label metric "d_total": 0 values given; pass x');
});
