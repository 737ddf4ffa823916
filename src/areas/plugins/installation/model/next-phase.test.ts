import { expect, test } from 'vitest';
import { nextPhases, type Situation } from './next-phase.ts';

const situation = (given: Partial<Situation>): Situation => ({
  phase: undefined,
  isDeleted: false,
  isSuspended: false,
  isRollback: false,
  wasActive: false,
  changesVersion: false,
  outcome: { type: 'waiting' },
  ...given,
});
const done = { type: 'done' } as const;
const stalled = { type: 'stalled' } as const;

test.each<[string, Partial<Situation>, string[]]>([
  ['a new one is INSTALLING', {}, ['INSTALLING']],
  ['a new one with a bad signature is FAILED', { outcome: stalled }, ['FAILED']],
  ['one that is done is ACTIVE', { phase: 'INSTALLING', outcome: done }, ['ACTIVE']],
  ['one that failed goes through INSTALLING', { phase: 'FAILED', outcome: done }, ['INSTALLING', 'ACTIVE']],
  [
    'one that failed after it had worked goes through UPGRADING',
    { phase: 'FAILED', wasActive: true, outcome: done },
    ['UPGRADING', 'ACTIVE'],
  ],
  ['one that is repaired stays ACTIVE', { phase: 'ACTIVE', wasActive: true }, []],
  ['another version is UPGRADING', { phase: 'ACTIVE', wasActive: true, changesVersion: true }, ['UPGRADING']],
  ['a rollback ends in ROLLED_BACK', { phase: 'UPGRADING', wasActive: true, isRollback: true, outcome: done }, ['ROLLED_BACK']],
  ['a rollback that was withdrawn is ACTIVE', { phase: 'ROLLED_BACK', wasActive: true, outcome: done }, ['ACTIVE']],
  ['suspended once it is at rest', { phase: 'ACTIVE', wasActive: true, isSuspended: true, outcome: done }, ['SUSPENDED']],
  ['not suspended before', { phase: 'ACTIVE', wasActive: true, isSuspended: true }, []],
  ['resumed when it is at work', { phase: 'SUSPENDED', wasActive: true, outcome: done }, ['ACTIVE']],
  ['UNINSTALLING when it is deleted, whatever it was', { phase: 'FAILED', isDeleted: true, outcome: stalled }, ['UNINSTALLING']],
])('nextPhases: %s', (_, given, expected) => {
  expect(nextPhases(situation(given))).toEqual(expected);
});
