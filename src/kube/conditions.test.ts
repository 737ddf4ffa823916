import { expect, it } from 'vitest';
import { isConditionTrue, removeCondition, setCondition, type Condition } from './conditions.ts';

const T0 = new Date('2024-01-01T00:00:00Z');
const T1 = new Date('2024-01-01T00:00:01Z');
const ready = { type: 'Ready', status: 'True', reason: 'AllGood', message: '' } as const;

it('setCondition adds what is new', () => {
  const conditions: Condition[] = [];
  expect(setCondition(conditions, { ...ready, observedGeneration: 2 }, T0)).toBe(true);
  expect(conditions).toEqual([{ ...ready, observedGeneration: 2, lastTransitionTime: '2024-01-01T00:00:00Z' }]);
  expect(isConditionTrue(conditions, 'Ready')).toBe(true);
});

it('setCondition changes nothing, when nothing changed', () => {
  const conditions: Condition[] = [];
  setCondition(conditions, ready, T0);
  expect(setCondition(conditions, ready, T1)).toBe(false);
  expect(conditions[0].lastTransitionTime).toBe('2024-01-01T00:00:00Z');
});

it('setCondition keeps the transition time, when only the reason changed', () => {
  const conditions: Condition[] = [];
  setCondition(conditions, ready, T0);
  expect(setCondition(conditions, { ...ready, reason: 'Better', observedGeneration: 3 }, T1)).toBe(true);
  expect(conditions[0]).toEqual({ ...ready, reason: 'Better', observedGeneration: 3, lastTransitionTime: '2024-01-01T00:00:00Z' });
});

it('setCondition moves the transition time, when the status changed', () => {
  const conditions: Condition[] = [];
  setCondition(conditions, ready, T0);
  setCondition(conditions, { ...ready, status: 'False' }, T1);
  expect(conditions[0]).toMatchObject({ status: 'False', lastTransitionTime: '2024-01-01T00:00:01Z' });
});

it('removeCondition says whether it was there', () => {
  const conditions: Condition[] = [];
  setCondition(conditions, ready, T0);
  expect([removeCondition(conditions, 'Ready'), removeCondition(conditions, 'Ready'), conditions.length]).toEqual([true, false, 0]);
});
