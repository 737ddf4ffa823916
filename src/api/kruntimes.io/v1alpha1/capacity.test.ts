import { describe, expect, it } from 'vitest';
import type { Run } from './run.ts';
import { capacityOf, fits, requestsOf } from './capacity.ts';

function aRun(requests?: Record<string, string | number>): Run {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r' },
    spec: { runtime: 'bash', mode: { task: {} }, ...(requests === undefined ? {} : { resources: { requests } }) },
  };
}

describe('requestsOf', () => {
  it.each<[string, Record<string, string | number> | undefined, Record<string, number>]>([
    ['a Run that asks for nothing takes one place', undefined, { runs: 1 }],
    ['zero places are one', { runs: 0 }, { runs: 1 }],
    ['several places', { runs: '3' }, { runs: 3 }],
    ['other resources', { gpu: 1, tokens: '2k' }, { runs: 1, gpu: 1, tokens: 2000 }],
    ['nothing of a resource', { gpu: 0 }, { runs: 1 }],
  ])('%s', (_name, requests, expected) => {
    const result = requestsOf(aRun(requests));
    expect('amounts' in result && Object.fromEntries(result.amounts)).toEqual(expected);
  });

  it.each(['1.5', '-1', '500m', 'many', '1e30'])('refuses %s', (amount) => {
    expect(requestsOf(aRun({ gpu: amount }))).toEqual({ invalid: 'gpu' });
  });
});

describe('capacityOf', () => {
  it('reads the annotations of a Pod and assumes two places', () => {
    const pod = (annotations: Record<string, string>) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { annotations } });
    expect(Object.fromEntries(capacityOf(pod({})))).toEqual({ runs: 2 });
    expect(
      Object.fromEntries(capacityOf(pod({ 'kruntimes.io/capacity.runs': '64', 'kruntimes.io/capacity.gpu': '1', other: '9' }))),
    ).toEqual({
      runs: 64,
      gpu: 1,
    });
  });
});

describe('fits', () => {
  const of = (amounts: Record<string, number>) => new Map(Object.entries(amounts));
  it.each([
    ['into what is free', { runs: 1 }, { runs: 1 }, { runs: 2 }, true],
    ['not above', { runs: 2 }, { runs: 1 }, { runs: 2 }, false],
    ['not where a resource is not offered', { runs: 1, gpu: 1 }, {}, { runs: 2 }, false],
    ['exactly', { runs: 2, gpu: 1 }, {}, { runs: 2, gpu: 1 }, true],
  ])('%s', (_name, requests, used, capacity, expected) => expect(fits(of(requests), of(used), of(capacity))).toBe(expected));
});
