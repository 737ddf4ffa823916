import { describe, expect, test } from 'vitest';
import { Secret } from '../../../../client/kinds.ts';
import type { TreeCondition } from '../../forest/tree-namespace.ts';
import { badConfiguration, namespaceConditions, resourceStatus, timedConditions } from './configuration-status.ts';
import { resolveEntries } from './configured-types.ts';

const halted = (reason: string): TreeCondition => ({ type: 'ActivitiesHalted', status: 'True', reason, message: '' });
const bad: TreeCondition = { type: 'BadConfiguration', status: 'True', reason: 'SubnamespaceAnchorMissing', message: '' };

describe('the condition of namespaces', () => {
  test.each([
    [[], undefined],
    [['d'], 'Namespaces "d" is affected by "ParentMissing"'],
    [['e', 'd'], '2 namespaces "d", "e" are affected by "ParentMissing"'],
    [['e', 'd', 'c', 'b'], '4 namespaces "b", "c", "d" ... are affected by "ParentMissing"'],
  ])('%s', (names, message) => {
    const [condition] = namespaceConditions(names.map((name) => ({ name, conditions: [halted('ParentMissing')] })));
    expect(condition?.message).toBe(message);
  });

  test('of several kinds, names the worst first', () => {
    const affected = [
      { name: 'x', conditions: [bad] },
      { name: 'y', conditions: [halted('AncestorHaltActivities'), bad] },
    ];
    expect(namespaceConditions(affected)).toEqual([
      {
        type: 'NamespaceCondition',
        reason: 'ActivitiesHalted',
        message:
          'Namespaces "y" is affected by "AncestorHaltActivities"; 2 namespaces "x", "y" are affected by "SubnamespaceAnchorMissing"',
      },
    ]);
  });
});

test('what is wrong with the configuration, is one condition', () => {
  const entries = resolveEntries([{ resource: 'a' }, { resource: 'nodes' }], ({ resource }) =>
    resource === 'nodes' ? { ...Secret, namespaced: false } : undefined,
  );
  expect(badConfiguration(entries)).toEqual([
    { type: 'BadConfiguration', reason: 'ResourceNotFound', message: 'no matches for /, Resource=a; resource "nodes" is not namespaced' },
  ]);
  expect(badConfiguration([])).toEqual([]);
});

test('the status of a type, counts what its mode is about', () => {
  const status = (mode: 'Propagate' | 'AllowPropagate' | 'Remove' | 'Ignore') =>
    resourceStatus({ group: '', resource: 'secrets', kind: Secret, mode }, { copies: 2, sources: 1 });
  const base = { group: '', version: 'v1', resource: 'secrets' };
  expect(status('Propagate')).toEqual({ ...base, mode: 'Propagate', numPropagatedObjects: 2, numSourceObjects: 1 });
  expect(status('AllowPropagate')).toEqual({ ...base, mode: 'AllowPropagate', numPropagatedObjects: 2, numSourceObjects: 1 });
  expect(status('Remove')).toEqual({ ...base, mode: 'Remove', numPropagatedObjects: 2 });
  expect(status('Ignore')).toEqual({ ...base, mode: 'Ignore' });
});

test('a condition, keeps its time as long as it is there', () => {
  const now = new Date('2026-02-02T00:00:00Z');
  const before = timedConditions([{ type: 'BadConfiguration', reason: 'A', message: 'a' }], undefined, now);
  const after = timedConditions([{ type: 'BadConfiguration', reason: 'B', message: 'b' }], before, new Date('2026-02-03T00:00:00Z'));
  expect(after).toEqual([
    { type: 'BadConfiguration', status: 'True', reason: 'B', message: 'b', lastTransitionTime: '2026-02-02T00:00:00Z' },
  ]);
});
