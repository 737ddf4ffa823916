import { expect, test } from 'vitest';
import type { Condition } from '../../kube/conditions.ts';
import type { KubeObject } from '../../kube/object.ts';
import { conflictError } from '../../kube/status.ts';
import { FakeClock } from '../../lib/clock-fake.ts';
import { mergeDifference } from './merge-difference.ts';
import { done, stalled, waiting, type Outcome } from './outcome.ts';
import { runSteps, type Step } from './run-steps.ts';

function aThing(status?: object): KubeObject {
  return { apiVersion: 'x/v1', kind: 'Thing', metadata: { name: 'a', generation: 3 }, status };
}

const step = (name: string, run: () => Outcome): Step => ({ name, run });

async function conditionsAfter(
  draft: KubeObject,
  steps: Step[],
): Promise<{ run: Awaited<ReturnType<typeof runSteps>>; conditions: string[] }> {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const run = await runSteps(draft, steps, { clock, signal: new AbortController().signal, metrics: { reconciled() {}, step() {} } });
  const conditions = (draft.status?.conditions ?? []).map((c: Condition) => `${c.type}=${c.status} ${c.reason} ${c.message}`.trim());
  return { run, conditions };
}

test('all done makes every condition and Ready true, and observes the generation', async () => {
  const draft = aThing();
  const { conditions } = await conditionsAfter(draft, [step('A', () => done('Found', 'it is there')), step('B', () => done())]);
  expect(conditions).toEqual(['A=True Found it is there', 'B=True Done', 'Ready=True Ready']);
  expect(draft.status.observedGeneration).toBe(3);
  expect(draft.status.conditions[0]).toMatchObject({ observedGeneration: 3, lastTransitionTime: '2026-01-01T00:00:00Z' });
});

test.each<[string, Outcome]>([
  ['waiting', waiting('NotYet', 'waits for b', 500)],
  ['stalled', stalled('Cycle', 'a is below itself')],
])('a step that is %s ends the run, and Ready tells why', async (_type, outcome) => {
  let reached = false;
  const { run, conditions } = await conditionsAfter(aThing(), [
    step('A', () => done()),
    step('B', () => outcome),
    step('C', () => {
      reached = true;
      return done();
    }),
  ]);
  expect(reached).toBe(false);
  expect(run.outcome).toEqual(outcome);
  const why = `${outcome.reason} ${outcome.message}`;
  expect(conditions).toEqual(['A=True Done', `B=False ${why}`, 'C=Unknown NotReached waits for B', `Ready=False ${why}`]);
});

test('a condition that was true stays so while its step is not reached', async () => {
  const known = { type: 'B', status: 'True', reason: 'Done', message: '', lastTransitionTime: '2020-01-01T00:00:00Z' };
  const { conditions } = await conditionsAfter(aThing({ conditions: [known] }), [
    step('A', () => waiting('NotYet', 'soon')),
    step('B', () => done()),
  ]);
  expect(conditions).toEqual(['B=True Done', 'A=False NotYet soon', 'Ready=False NotYet soon']);
});

test('a step that throws is told in its condition and handed on', async () => {
  const failure = new Error('disk on fire');
  const { run, conditions } = await conditionsAfter(aThing(), [
    step('A', () => {
      throw failure;
    }),
  ]);
  expect(run.error).toBe(failure);
  expect(conditions).toEqual(['A=False Error disk on fire', 'Ready=False Error disk on fire']);
});

test('a conflict reports nothing', async () => {
  const draft = aThing();
  await conditionsAfter(draft, [
    step('A', () => {
      throw conflictError({ group: '', resource: 'things' }, 'a', 'stale');
    }),
  ]);
  expect(draft.status).toBeUndefined();
});

test.each([
  ['nothing for equal values', { a: 1, b: [1, { c: 2 }] }, { a: 1, b: [1, { c: 2 }] }, undefined],
  ['changed, added and removed fields', { a: 1, b: 2 }, { a: 3, c: 4 }, { a: 3, b: null, c: 4 }],
  ['nested objects by field, lists as a whole', { o: { x: 1, y: 2 }, l: [1, 2] }, { o: { x: 1, y: 3 }, l: [1] }, { o: { y: 3 }, l: [1] }],
  ['fields that are undefined as absent', { a: 1 }, { a: 1, b: undefined }, undefined],
])('mergeDifference gives %s', (_name, previous, next, expected) => {
  expect(mergeDifference(previous, next)).toEqual(expected);
});

test.each<[string, () => Outcome]>([
  ['is not done', () => waiting('NotYet', 'soon')],
  [
    'throws',
    () => {
      throw new Error('soon');
    },
  ],
])('those behind a step that keeps nobody waiting are tried when it %s, and Ready tells of the first', async (_name, run) => {
  const { run: ended, conditions } = await conditionsAfter(aThing(), [
    { ...step('A', run), keepsNobodyWaiting: true },
    step('B', () => waiting('Later', 'also')),
    step('C', () => done()),
  ]);
  expect(ended.outcome.message).toBe('soon');
  const reason = ended.error === undefined ? 'NotYet' : 'Error';
  expect(conditions).toEqual([
    `A=False ${reason} soon`,
    'B=False Later also',
    'C=Unknown NotReached waits for B',
    `Ready=False ${reason} soon`,
  ]);
});
