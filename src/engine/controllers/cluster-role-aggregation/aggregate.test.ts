import { expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { aggregateRules } from './aggregate.ts';

const rule = (resource: string): object => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
const role = (name: string, labels: Record<string, string>, ...resources: string[]): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules: resources.map(rule),
});
const sum = (...selectors: object[]): KubeObject => ({
  ...role('sum', { view: 'yes' }, 'own'),
  aggregationRule: { clusterRoleSelectors: selectors },
});

test('rules come from all selected roles, in the order of their names, each once, and never from the role itself', () => {
  const all = [role('b', { view: 'yes' }, 'pods', 'services'), role('a', { view: 'yes' }, 'pods'), role('c', {}, 'secrets')];
  const aggregated = sum({ matchLabels: { view: 'yes' } });
  expect(aggregateRules(aggregated, [...all, aggregated])).toEqual([rule('pods'), rule('services')]);
});

test('several selectors add up, and expressions count', () => {
  const all = [role('a', { view: 'yes' }, 'pods'), role('b', { edit: 'yes' }, 'services')];
  const selectors = [{ matchLabels: { view: 'yes' } }, { matchExpressions: [{ key: 'edit', operator: 'Exists' }] }];
  expect(aggregateRules(sum(...selectors), all)).toEqual([rule('pods'), rule('services')]);
});

test('no selector gives no rules', () => {
  expect(aggregateRules(sum(), [role('a', {}, 'pods')])).toEqual([]);
});
