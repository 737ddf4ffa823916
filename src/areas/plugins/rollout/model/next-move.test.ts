import { describe, expect, test } from 'vitest';
import type { PluginManifest } from '../../../../api/adapstory.com/v1/plugin-manifest.ts';
import { gateBreach } from './health-gate.ts';
import { nextMove, type ShiftSituation } from './next-move.ts';
import { withShare } from './routes.ts';
import { shiftSteps } from './shift-steps.ts';
import { trafficFacts, type VersionTraffic } from './traffic-facts.ts';

const traffic = (given: Partial<VersionTraffic> = {}): VersionTraffic => ({ inFlight: 0, requests: 0, errors: 0, p99Ms: 0, ...given });
const route = (version: string, weight: number) => ({ version, workload: `plugin-${version}`, weight });
const manifest = (upgrade?: object): PluginManifest => ({ spec: { runtime: { upgrade } } }) as never;
const canary = [
  { weight: 10, pauseMs: 300_000 },
  { weight: 100, pauseMs: 0 },
];

const told = (versions: Record<string, VersionTraffic>) => ({ isCurrent: true, isReported: true, versions });

const situation = (given: Partial<ShiftSituation>): ShiftSituation => ({
  routes: [route('1', 100)],
  target: { version: '2', workload: 'plugin-2' },
  atWork: '1',
  isGoingBack: false,
  isUncalled: false,
  manifest: manifest(),
  steps: canary,
  step: undefined,
  sinceMs: 0,
  counted: { requests: 0, errors: 0 },
  traffic: told({}),
  ...given,
});
const at10 = { routes: [route('1', 90), route('2', 10)], step: 0 };
const at100 = { routes: [route('1', 0), route('2', 100)], step: 1 };
const busy = told({ '1': traffic({ inFlight: 2 }) });
const failing = told({ '2': traffic({ requests: 100, errors: 6 }) });
const unseen = { ...told({}), isCurrent: false };

describe('nextMove', () => {
  test.each<[string, Partial<ShiftSituation>, object]>([
    ['a first version gets everything', { routes: [], atWork: undefined }, { type: 'done', routes: [route('2', 100)] }],
    ['a new one gets its first share', {}, { type: 'shift', routes: [route('1', 90), route('2', 10)], step: 0 }],
    ['it waits for the gateways', { ...at10, traffic: unseen }, { type: 'wait', for: 'gateways' }],
    ['it does not wait for a gateway for ever', { ...at10, sinceMs: 5_000, traffic: unseen }, { type: 'wait', for: 'pause' }],
    ['it stays at its share for the pause', { ...at10, sinceMs: 299_000 }, { type: 'wait', for: 'pause', afterMs: 1_000 }],
    ['it gets the next share then', { ...at10, sinceMs: 300_000 }, { type: 'shift', routes: [route('1', 0), route('2', 100)], step: 1 }],
    ['it is rejected when its requests fail', { ...at10, traffic: failing }, { type: 'reject', breach: { reason: 'ErrorRateExceeded' } }],
    ['it is rejected with all requests, too', { ...at100, traffic: failing }, { type: 'reject' }],
    ['the old one is kept while requests to it are under way', { ...at100, sinceMs: 100, traffic: busy }, { type: 'wait', for: 'drain' }],
    ['the old one is kept until the gateways know', { ...at100, traffic: unseen }, { type: 'wait', for: 'gateways' }],
    ['the old one goes when it is idle', { ...at100, sinceMs: 100 }, { type: 'retire', routes: [route('2', 100)] }],
    ['the old one goes at the deadline', { ...at100, sinceMs: 30_000, traffic: busy }, { type: 'retire' }],
    [
      'a silent gateway may have requests under way',
      { ...at100, sinceMs: 29_000, traffic: unseen },
      { type: 'wait', for: 'drain', message: 'a gateway is silent, and may have requests under way' },
    ],
    ['a silent gateway does not hold the old one for ever', { ...at100, sinceMs: 30_000, traffic: unseen }, { type: 'retire' }],
    [
      'few requests at each of two steps say something together',
      { ...at100, counted: { requests: 3, errors: 3 }, traffic: told({ '2': traffic({ requests: 2, errors: 1 }) }) },
      { type: 'reject', breach: { reason: 'ErrorRateExceeded', message: expect.stringContaining('4 of 5 requests failed') } },
    ],
    [
      'without a gateway nothing is known of them, and that is said',
      { ...at10, traffic: { ...told({}), isReported: false } },
      { type: 'wait', for: 'pause', message: expect.stringContaining('no gateway tells how they fare') },
    ],
    ['what is left has everything', { routes: [route('2', 100)], step: 1 }, { type: 'done', routes: [route('2', 100)] }],
    [
      'a way back has no steps',
      { isGoingBack: true, target: { version: '1', workload: 'plugin-1' }, routes: [route('1', 90), route('2', 10)], atWork: '1' },
      { type: 'shift', routes: [route('2', 0), route('1', 100)], step: undefined },
    ],
    ['a way back knows no gate', { ...at100, isGoingBack: true, traffic: failing }, { type: 'retire' }],
    ['nobody calls a plugin without a port', { isUncalled: true }, { type: 'retire', routes: [route('2', 100)] }],
    [
      'a third version takes from the one at work, the second is on its way out',
      { ...at10, target: { version: '3', workload: 'plugin-3' }, step: undefined },
      { type: 'shift', routes: [route('1', 90), route('2', 0), route('3', 10)], step: 0 },
    ],
    [
      'steps that changed meanwhile are gone by',
      { ...at10, steps: [{ weight: 30, pauseMs: 0 }, ...canary.slice(1)] },
      { type: 'shift', routes: [route('1', 70), route('2', 30)], step: 0 },
    ],
  ])('%s', (_, given, expected) => {
    expect(nextMove(situation(given))).toMatchObject(expected);
  });

  test('a canary of three steps ends with nothing but the new version, whatever the order of reports', () => {
    const steps = shiftSteps(
      manifest({ strategy: 'canary', canarySteps: [{ weight: 10, pauseSeconds: 5 }, { weight: 50 }, { weight: 100 }] }),
      undefined,
    );
    let now = situation({ steps });
    const seen: number[] = [];
    for (let round = 0; round < 50; round++) {
      const move = nextMove(now);
      if (move.type === 'done') return expect(seen).toEqual([10, 50, 100]);
      if (move.type === 'shift') seen.push(move.routes.find(({ version }) => version === '2')!.weight);
      now = move.type === 'wait' ? { ...now, sinceMs: now.sinceMs + move.afterMs } : { ...now, ...(move as object), sinceMs: 0 };
    }
    throw new Error('it did not end');
  });
});

test('withShare gives everything to the only version', () => {
  expect(withShare([], { version: '1', workload: 'w' }, 10)).toEqual([{ version: '1', workload: 'w', weight: 100 }]);
});

describe('shiftSteps', () => {
  const policy = (spec: object) => ({ spec }) as never;
  test('of a rolling upgrade take ten seconds, so that few requests show what is broken', () => {
    expect(shiftSteps(manifest(), undefined).reduce((sum, { pauseMs }) => sum + pauseMs, 0)).toBeGreaterThanOrEqual(10_000);
  });
  test.each<[string, PluginManifest, never, number[]]>([
    ['rolling when nothing is said', manifest(), undefined as never, [50, 100]],
    ['all at once for blueGreen', manifest({ strategy: 'blueGreen' }), undefined as never, [100]],
    [
      'the manifest’s canary',
      manifest({ strategy: 'canary', canarySteps: [{ weight: 5 }, { weight: 100 }] }),
      undefined as never,
      [5, 100],
    ],
    ['the policy’s share first', manifest(), policy({ mode: 'canary', canaryPercent: 20 }), [20, 50, 100]],
    ['no smaller share after the policy’s', manifest(), policy({ mode: 'canary', canaryPercent: 60 }), [60, 100]],
    ['not the share of another mode', manifest(), policy({ mode: 'minor-auto', canaryPercent: 20 }), [50, 100]],
  ])('are %s', (_, given, of, weights) => {
    expect(shiftSteps(given, of).map(({ weight }) => weight)).toEqual(weights);
  });
});

describe('gateBreach', () => {
  const slo = manifest({ healthGate: { slo: { errorRate: 0.01, p99LatencyMs: 300 } } });
  test.each<[string, PluginManifest, Partial<VersionTraffic>, string | undefined]>([
    ['four requests say nothing', slo, { requests: 4, errors: 4 }, undefined],
    ['a few of which more than half failed', slo, { requests: 5, errors: 3 }, 'ErrorRateExceeded'],
    ['a few of which half failed', slo, { requests: 6, errors: 3 }, undefined],
    [
      'a few of which as many failed as it may',
      manifest({ healthGate: { slo: { errorRate: 0.8 } } }),
      { requests: 5, errors: 4 },
      undefined,
    ],
    ['a few that were slow', slo, { requests: 19, p99Ms: 900 }, undefined],
    ['as many errors as allowed', slo, { requests: 100, errors: 1 }, undefined],
    ['more errors', slo, { requests: 100, errors: 2 }, 'ErrorRateExceeded'],
    ['one in twenty when nothing is said', manifest(), { requests: 100, errors: 5 }, undefined],
    ['more than that', manifest(), { requests: 100, errors: 6 }, 'ErrorRateExceeded'],
    ['too slow', slo, { requests: 100, p99Ms: 301 }, 'LatencyExceeded'],
    ['as slow as it likes when nothing is said', manifest(), { requests: 100, p99Ms: 9_000 }, undefined],
  ])('%s', (_, given, seen, reason) => {
    expect(gateBreach(given, traffic(seen))?.reason).toBe(reason);
  });
});

describe('trafficFacts', () => {
  const report = (revision: number, given: Partial<VersionTraffic>) => ({ revision, versions: { '1': traffic(given) } });
  test('without a gateway nothing has to be waited for', () => {
    expect(trafficFacts([], 3)).toEqual({ isCurrent: true, isReported: false, versions: {} });
  });
  test('gateways that told something before and do not any more are waited for', () => {
    expect(trafficFacts([], 3, true)).toEqual({ isCurrent: false, isReported: false, versions: {} });
  });
  test('counts of other routes are left out, what is under way is not', () => {
    const facts = trafficFacts(
      [report(3, { requests: 10, errors: 1, inFlight: 1, p99Ms: 5 }), report(2, { requests: 90, inFlight: 2, p99Ms: 9 })],
      3,
    );
    expect(facts).toEqual({
      isCurrent: false,
      isReported: true,
      versions: { '1': traffic({ requests: 10, errors: 1, inFlight: 3, p99Ms: 5 }) },
    });
  });
  test('a gateway that has said nothing yet is waited for', () => {
    expect(trafficFacts([report(3, {}), undefined], 3).isCurrent).toBe(false);
  });
});
