import { describe, expect, it } from 'vitest';
import { AUTHORITY_RENEWAL_MS, NO_WISH, rotationStep, trustedUntil, type RotationState, type RotationStep } from './rotation-step.ts';

const NOW = Date.parse('2030-06-01T00:00:00Z');
const DAY = 24 * 3600 * 1000;
const FAR = NOW + 9 * 365 * DAY;
const settled: RotationState = { edition: 1, ends: FAR, formers: [], done: NO_WISH };
const former = { edition: 1, until: NOW + 100 * DAY };
const overlapping: RotationState = { ...settled, edition: 2, formers: [former], done: { ...NO_WISH, authorities: 1 } };

const cases: { name: string; state: RotationState; wish?: Partial<typeof NO_WISH>; step: RotationStep }[] = [
  {
    name: 'nothing, until authorities near their end, for one that is as it was made',
    state: settled,
    step: { do: 'nothing', until: FAR - AUTHORITY_RENEWAL_MS },
  },
  {
    name: 'a rotation, two years before the end of authorities',
    state: { ...settled, ends: NOW + AUTHORITY_RENEWAL_MS },
    step: { do: 'rotate', reason: 'Expiring' },
  },
  {
    name: 'nothing, a moment before that',
    state: { ...settled, ends: NOW + AUTHORITY_RENEWAL_MS + 1 },
    step: { do: 'nothing', until: NOW + 1 },
  },
  {
    name: 'a rotation, for authorities that ended while nobody was there',
    state: { ...settled, ends: NOW },
    step: { do: 'rotate', reason: 'Expired' },
  },
  { name: 'a rotation, when one is asked for', state: settled, wish: { authorities: 1 }, step: { do: 'rotate', reason: 'Asked' } },
  {
    name: 'one rotation, for several requests that came at once',
    state: { ...settled, done: { ...NO_WISH, authorities: 4 } },
    wish: { authorities: 4 },
    step: { do: 'nothing', until: FAR - AUTHORITY_RENEWAL_MS },
  },
  {
    name: 'nothing, when the request is older than what was done',
    state: overlapping,
    wish: { authorities: 0 },
    step: { do: 'nothing', until: former.until },
  },
  {
    name: 'nothing, until the former ones are no longer trusted',
    state: overlapping,
    wish: { authorities: 1 },
    step: { do: 'nothing', until: former.until },
  },
  {
    name: 'the former ones forgotten, when all that they signed has ended',
    state: {
      ...overlapping,
      formers: [
        { edition: 1, until: NOW },
        { edition: 2, until: NOW + DAY },
      ],
    },
    wish: { authorities: 1 },
    step: { do: 'forget', editions: [1] },
  },
  {
    name: 'all former ones forgotten, when that is asked for',
    state: { ...overlapping, formers: [former, { edition: 2, until: NOW + DAY }] },
    wish: { authorities: 1, revoke: 1 },
    step: { do: 'forget', editions: [1, 2] },
  },
  { name: 'the request noted, when there are none to forget', state: settled, wish: { revoke: 1 }, step: { do: 'forget', editions: [] } },
  {
    name: 'new authorities first, when they are asked for together with a revocation',
    state: settled,
    wish: { authorities: 1, revoke: 1 },
    step: { do: 'rotate', reason: 'Asked' },
  },
  {
    name: 'the revocation, after a crash between the two',
    state: { ...overlapping, done: { ...NO_WISH, authorities: 1 } },
    wish: { authorities: 1, revoke: 1 },
    step: { do: 'forget', editions: [1] },
  },
  { name: 'certificates anew, when that is asked for', state: settled, wish: { certificates: 1 }, step: { do: 'reissue' } },
  {
    name: 'certificates anew, after the authorities that sign them',
    state: settled,
    wish: { certificates: 1, authorities: 1 },
    step: { do: 'rotate', reason: 'Asked' },
  },
];

describe('rotationStep', () => {
  for (const { name, state, wish, step } of cases) {
    it(name, () => expect(rotationStep(state, { ...NO_WISH, ...wish }, NOW)).toEqual(step));
  }
});

describe('trustedUntil', () => {
  it('is when the last certificate ends that can have been signed', () => expect(trustedUntil(FAR, 365 * DAY, NOW)).toBe(NOW + 365 * DAY));
  it('is the end of the authority, when that is sooner', () => expect(trustedUntil(NOW + DAY, 365 * DAY, NOW)).toBe(NOW + DAY));
  it('is as long for one that has ended: it may be the clock that is wrong', () =>
    expect(trustedUntil(NOW - DAY, 365 * DAY, NOW)).toBe(NOW + 365 * DAY));
});
