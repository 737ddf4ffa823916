import { describe, expect, it } from 'vitest';
import { VERSION_STATES, type VersionState } from '../../../../../api/plugins.tenantry.dev/v1alpha1/states.ts';
import type { Condition } from '../../../../../kube/conditions.ts';
import { statesPassed, versionPhase } from './version-phase.ts';

const is = (type: string, status: Condition['status'], reason: string): Condition => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const ready = [is('Ready', 'True', 'Ready')];
const not = (reason: string) => [is('SignatureVerified', 'False', reason), is('Ready', 'False', reason)];

describe('versionPhase', () => {
  it.each<[string, VersionState | undefined, Condition[], VersionState]>([
    ['nothing known', undefined, [], 'DRAFT'],
    ['no signature', 'DRAFT', not('NotSigned'), 'DRAFT'],
    ['a bad signature', 'DRAFT', not('SignatureInvalid'), 'SIGNED'],
    [
      'a good one on an image that runs as root',
      'DRAFT',
      [is('SignatureVerified', 'True', 'Verified'), is('Ready', 'False', 'RunsAsRoot')],
      'SIGNED',
    ],
    ['everything', 'SIGNED', ready, 'VERIFIED'],
    ['a signature that went away', 'SIGNED', not('NotSigned'), 'DRAFT'],
    ['a key revoked after verification', 'VERIFIED', not('KeyRevoked'), 'REVOKED'],
    ['a registry that cannot be asked after revocation', 'VERIFIED', not('ImageUnavailable'), 'REVOKED'],
    ['a publisher that is gone', 'VERIFIED', [is('Ready', 'False', 'PublisherUnknown')], 'REVOKED'],
    ['a new signature after revocation', 'REVOKED', ready, 'VERIFIED'],
    ['no signature after revocation', 'REVOKED', not('NotSigned'), 'REVOKED'],
  ])('with %s, from %s', (_, before, conditions, phase) => {
    expect(versionPhase(before, conditions)).toBe(phase);
  });
});

describe('statesPassed', () => {
  it.each<[VersionState | undefined, VersionState, VersionState[]]>([
    [undefined, 'DRAFT', ['DRAFT']],
    [undefined, 'VERIFIED', ['DRAFT', 'SIGNED', 'VERIFIED']],
    ['DRAFT', 'VERIFIED', ['SIGNED', 'VERIFIED']],
    ['VERIFIED', 'REVOKED', ['REVOKED']],
    ['REVOKED', 'VERIFIED', ['VERIFIED']],
    ['SIGNED', 'SIGNED', []],
  ])('from %s to %s', (from, to, states) => {
    expect(statesPassed(from, to)).toEqual(states);
  });

  it('leads wherever the conditions can lead', () => {
    const reached = [[], not('NotSigned'), not('SignatureInvalid'), ready];
    for (const from of [undefined, ...VERSION_STATES]) {
      for (const conditions of reached) expect(() => statesPassed(from, versionPhase(from, conditions))).not.toThrow();
    }
  });
});
