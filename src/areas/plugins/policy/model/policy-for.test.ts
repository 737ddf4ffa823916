import { expect, test } from 'vitest';
import type { PluginPolicy } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';
import { policyFor, takenByOthers } from './policy-for.ts';

const aPolicy = (name: string, day: number, ...plugins: string[]): PluginPolicy =>
  ({
    metadata: { name, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
    spec: { mode: 'pinned', ...(plugins.length > 0 ? { plugins } : {}) },
  }) as never;

const all = aPolicy('all', 1);
const named = aPolicy('named', 2, 'hello', 'notes');
const later = aPolicy('later', 3, 'hello');
const secondAll = aPolicy('second-all', 4);
const policies = [secondAll, later, named, all];

test.each([
  ['one that names the plugin before one that names none', 'notes', 'named'],
  ['the oldest of several that name it', 'hello', 'named'],
  ['the oldest that names none for the others', 'keys', 'all'],
])('policyFor takes %s', (_, plugin, expected) => {
  expect(policyFor(plugin, policies)?.metadata.name).toBe(expected);
});

test('policyFor finds none where there is none, and none that is on its way out', () => {
  const going = { ...all, metadata: { ...all.metadata, deletionTimestamp: 'x' } };
  expect(policyFor('hello', [going])).toBeUndefined();
});

test('takenByOthers tells which policy holds what another asks for', () => {
  expect(takenByOthers(named, policies)).toEqual([]);
  expect(takenByOthers(later, policies)).toEqual([{ plugin: 'hello', by: 'named' }]);
  expect(takenByOthers(secondAll, policies)).toEqual([{ plugin: '*', by: 'all' }]);
});
