import { expect, test } from 'vitest';
import { INSTALLATION_STATES, INSTALLATION_TRANSITIONS } from '../../../../api/plugins.tenantry.dev/v1alpha1/states.ts';
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
  ['suspended, whatever is still to be done', { phase: 'ACTIVE', wasActive: true, isSuspended: true }, ['SUSPENDED']],
  ['suspended, whatever is wrong', { phase: 'FAILED', wasActive: true, isSuspended: true, outcome: stalled }, ['SUSPENDED']],
  ['suspended in the middle of an upgrade', { phase: 'UPGRADING', wasActive: true, isSuspended: true, outcome: done }, ['SUSPENDED']],
  ['resumed when it is at work', { phase: 'SUSPENDED', wasActive: true, outcome: done }, ['ACTIVE']],
  ['UNINSTALLING when it is deleted, whatever it was', { phase: 'FAILED', isDeleted: true, outcome: stalled }, ['UNINSTALLING']],
])('nextPhases: %s', (_, given, expected) => {
  expect(nextPhases(situation(given))).toEqual(expected);
});

/** Every situation that there can be: what was never healthy has no phase that comes after, and nowhere to go back to. */
function* situations(): Generator<Situation> {
  const both = [false, true];
  for (const phase of [undefined, ...INSTALLATION_STATES])
    for (const isDeleted of phase === 'UNINSTALLING' ? [true] : both)
      for (const isSuspended of both)
        for (const wasActive of both)
          for (const isRollback of wasActive ? both : [false])
            for (const changesVersion of wasActive ? both : [false])
              for (const type of ['done', 'waiting', 'stalled'] as const) {
                const isPossible = wasActive
                  ? phase !== undefined && phase !== 'INSTALLING'
                  : phase !== 'ACTIVE' && phase !== 'UPGRADING' && phase !== 'ROLLED_BACK';
                if (isPossible) yield { phase, isDeleted, isSuspended, isRollback, wasActive, changesVersion, outcome: { type } };
              }
}

test('nextPhases leads somewhere from every phase in every situation, by transitions that the table has', () => {
  for (const each of situations()) {
    const phases = nextPhases(each);
    const from = [each.phase, ...phases];
    for (const [index, to] of phases.entries()) {
      const before = from[index];
      if (before !== undefined) expect(INSTALLATION_TRANSITIONS[before], JSON.stringify(each)).toContain(to);
    }
    // Once there it stays there, so nothing was in its way.
    expect(nextPhases({ ...each, phase: phases.at(-1) ?? each.phase }), JSON.stringify(each)).toEqual([]);
    const { isDeleted, isSuspended, isRollback, outcome } = each;
    const wanted = isDeleted
      ? 'UNINSTALLING'
      : isSuspended
        ? 'SUSPENDED'
        : { done: isRollback ? 'ROLLED_BACK' : 'ACTIVE', stalled: 'FAILED', waiting: undefined }[outcome.type];
    if (wanted) expect(phases.at(-1) ?? each.phase, JSON.stringify(each)).toBe(wanted);
  }
});
