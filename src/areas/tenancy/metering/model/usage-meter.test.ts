import { describe, expect, test } from 'vitest';
import type { UsageRows } from '../../../../api/tenantry.dev/v1alpha1/metering.ts';
import { UsageMeter, type Source } from './usage-meter.ts';

const T0 = Date.parse('2026-03-01T10:00:00Z');
const MINUTE = 60_000;
const aPod = (rest: Partial<Source> = {}): Source => ({
  tenant: 'acme',
  namespace: 'acme--dev',
  rates: { cpuSeconds: 2 },
  since: T0,
  ...rest,
});

function shown(rows: UsageRows): object {
  return Object.fromEntries([...rows].map(([period, namespaces]) => [period, Object.fromEntries(namespaces)]));
}

function taken(meter: UsageMeter, tenant: string, now: number): UsageRows {
  for (const _ of meter.settle(tenant, now));
  return meter.take(tenant);
}

describe('what a tenant used', () => {
  test.each<[string, (meter: UsageMeter) => void, number, object]>([
    ['nothing without anything there', () => {}, T0, {}],
    ['rate times time', (meter) => meter.follow('a', aPod(), T0), T0 + MINUTE, { '2026-03-01T10': { 'acme--dev': { cpuSeconds: 120 } } }],
    [
      'each hour has its part',
      (meter) => meter.follow('a', aPod({ since: T0 + 59 * MINUTE }), T0 + 59 * MINUTE),
      T0 + 61 * MINUTE,
      { '2026-03-01T10': { 'acme--dev': { cpuSeconds: 120 } }, '2026-03-01T11': { 'acme--dev': { cpuSeconds: 120 } } },
    ],
    [
      'what was there before it was seen counts from its start',
      (meter) => meter.follow('a', aPod(), T0 + MINUTE),
      T0 + 2 * MINUTE,
      { '2026-03-01T10': { 'acme--dev': { cpuSeconds: 240 } } },
    ],
    [
      'a new rate counts from its moment',
      (meter) => {
        meter.follow('a', aPod(), T0);
        meter.follow('a', aPod({ rates: { cpuSeconds: 1 } }), T0 + MINUTE);
      },
      T0 + 2 * MINUTE,
      { '2026-03-01T10': { 'acme--dev': { cpuSeconds: 180 } } },
    ],
    [
      'the same said again changes nothing',
      (meter) => {
        meter.follow('a', aPod(), T0);
        meter.follow('a', aPod({ since: T0 + 30_000 }), T0 + 30_000);
      },
      T0 + MINUTE,
      { '2026-03-01T10': { 'acme--dev': { cpuSeconds: 120 } } },
    ],
    [
      'what has ended uses no more',
      (meter) => {
        meter.follow('a', aPod(), T0);
        meter.end('a', T0 + MINUTE);
        meter.end('a', T0 + 2 * MINUTE);
      },
      T0 + 3 * MINUTE,
      { '2026-03-01T10': { 'acme--dev': { cpuSeconds: 120 } } },
    ],
    [
      'a night without anybody looking counts an hour',
      (meter) => meter.follow('a', aPod(), T0),
      T0 + 12 * 60 * MINUTE,
      { '2026-03-01T21': { 'acme--dev': { cpuSeconds: 7200 } } },
    ],
    ['a clock that was set back takes nothing away', (meter) => meter.follow('a', aPod(), T0), T0 - MINUTE, {}],
    [
      'a measurement stands for the time before it, and not for longer than a few minutes',
      (meter) => {
        meter.follow('a', aPod({ rates: {} }), T0);
        meter.measured('a', { cpuUsedSeconds: 0.5 }, T0 + MINUTE);
        meter.measured('a', { cpuUsedSeconds: 1 }, T0 + 11 * MINUTE);
        meter.measured('stranger', { cpuUsedSeconds: 1 }, T0 + MINUTE);
      },
      T0 + 11 * MINUTE,
      { '2026-03-01T10': { 'acme--dev': { cpuUsedSeconds: 180 } } },
    ],
    [
      'things are counted when they come',
      (meter) => {
        meter.count('acme', 'acme', 'runs', T0);
        meter.count('acme', 'acme', 'runs', T0);
      },
      T0,
      { '2026-03-01T10': { acme: { runs: 2 } } },
    ],
    ['what uses nothing leaves no row', (meter) => meter.follow('a', aPod({ rates: { cpuSeconds: 0 } }), T0), T0 + MINUTE, {}],
  ])('%s', (_name, act, now, expected) => {
    const meter = new UsageMeter();
    act(meter);
    expect(shown(taken(meter, 'acme', now))).toEqual(expected);
  });

  test('is taken once, and given back when it could not be kept', () => {
    const meter = new UsageMeter();
    meter.follow('a', aPod(), T0);
    const rows = taken(meter, 'acme', T0 + MINUTE);
    expect(taken(meter, 'acme', T0 + MINUTE).size).toBe(0);
    meter.giveBack('acme', rows);
    expect(shown(taken(meter, 'acme', T0 + 2 * MINUTE))).toEqual({ '2026-03-01T10': { 'acme--dev': { cpuSeconds: 240 } } });
  });

  test('follows it to another tenant', () => {
    const meter = new UsageMeter();
    meter.follow('a', aPod(), T0);
    meter.follow('a', aPod({ tenant: 'beta' }), T0 + MINUTE);
    expect(meter.tenants).toEqual(new Set(['acme', 'beta']));
    expect(shown(taken(meter, 'acme', T0 + 2 * MINUTE))).toEqual({ '2026-03-01T10': { 'acme--dev': { cpuSeconds: 120 } } });
    expect(shown(taken(meter, 'beta', T0 + 2 * MINUTE))).toEqual({ '2026-03-01T10': { 'acme--dev': { cpuSeconds: 120 } } });
    meter.end('a', T0 + 2 * MINUTE);
    expect(meter.tenants.size).toBe(0);
  });
});
