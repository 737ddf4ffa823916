import { expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { BUILT_IN_ADD_ONS, ownersBinding } from './built-in-add-ons.ts';
import { configMapAddOn } from './config-map-add-on.ts';
import { installAddOns } from './install-add-ons.ts';

function aCluster(refuse: (object: KubeObject) => boolean = () => false) {
  const applied: string[] = [];
  return {
    applied,
    namespaces: () => Promise.resolve(['default', 'kube-system', 'team']),
    apply(object: KubeObject) {
      if (refuse(object)) return Promise.reject(new Error('a webhook refuses it'));
      applied.push(
        `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name} ${object.metadata.labels!['tenantry.dev/add-on']}`,
      );
      return Promise.resolve(true);
    },
  };
}

it('installAddOns puts what is for every namespace into all but those of the system, with the label of its add-on', async () => {
  const cluster = aCluster();
  const limits = BUILT_IN_ADD_ONS.filter(({ name }) => name === 'limits');
  expect(await installAddOns([ownersBinding('kubeadm:cluster-admins'), ...limits], cluster)).toEqual({ problems: [], hasMore: false });
  expect(cluster.applied).toEqual([
    'ClusterRoleBinding /kubeadm:cluster-admins rbac',
    'LimitRange default/tenantry-limits limits',
    'LimitRange team/tenantry-limits limits',
  ]);
});

it('installAddOns tells which add-on is refused, and installs the others', async () => {
  const cluster = aCluster(({ kind }) => kind === 'LimitRange');
  const { problems } = await installAddOns([...BUILT_IN_ADD_ONS], cluster);
  expect(problems).toEqual([{ addOn: 'limits', message: 'a webhook refuses it' }]);
  expect(cluster.applied.filter((text) => text.startsWith('NetworkPolicy'))).toHaveLength(2);
  expect(cluster.applied).toContain('Service kube-system/tenantry-ingress ingress');
});

it('installAddOns writes a bounded number in one round and goes on in the next, behind what is there', async () => {
  const names = Array.from({ length: 450 }, (_, index) => `n${index}`);
  const there = new Set<string>();
  let written = 0;
  const cluster = {
    namespaces: () => Promise.resolve(names),
    apply({ metadata }: KubeObject) {
      if (there.has(metadata.namespace!)) return Promise.resolve(false);
      there.add(metadata.namespace!);
      written++;
      return Promise.resolve(true);
    },
  };
  const limits = BUILT_IN_ADD_ONS.filter(({ name }) => name === 'limits');
  const rounds = [];
  for (let round = 0; round < 4; round++) {
    const { hasMore } = await installAddOns(limits, cluster);
    rounds.push({ hasMore, written });
  }
  expect(rounds).toEqual([
    { hasMore: true, written: 200 },
    { hasMore: true, written: 400 },
    { hasMore: false, written: 450 },
    { hasMore: false, written: 450 },
  ]);
});

it('configMapAddOn reads every manifest of every key, in the order of the keys', () => {
  const text = (name: string) => `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`;
  const { objects } = configMapAddOn('audit', { 'b.yaml': text('last'), 'a.yaml': `${text('first')}---\n${text('second')}---\n` });
  expect(objects.map(({ metadata }) => metadata.name)).toEqual(['first', 'second', 'last']);
});

it.each([
  ['text that is no YAML', 'a: [', /"a.yaml" is no YAML/],
  ['something that is no manifest', 'a: 1', /without apiVersion, kind and metadata.name/],
])('configMapAddOn says what is wrong with %s', (_name, text, expected) => {
  expect(() => configMapAddOn('audit', { 'a.yaml': text })).toThrow(expected);
});
