import { expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { conditionsAfter, type ContentFindings } from './conditions.ts';

const nothing: ContentFindings = { undiscovered: [], failures: [], remaining: new Map(), finalizers: new Map() };
const namespace = (conditions?: unknown[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'x' },
  status: { conditions },
});
const NOW = Date.parse('2026-01-01T00:00:00Z');

test('a pass that found nothing says so in all five conditions, and a second one changes nothing', () => {
  const conditions = conditionsAfter(namespace(), nothing, NOW)!;
  expect(conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual([
    'NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered',
    'NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions',
    'NamespaceDeletionContentFailure=False ContentDeleted',
    'NamespaceContentRemaining=False ContentRemoved',
    'NamespaceFinalizersRemaining=False ContentHasNoFinalizers',
  ]);
  expect(conditionsAfter(namespace(conditions), nothing, NOW + 5000)).toBeUndefined();
});

test('what remains is told in the words of Kubernetes, sorted', () => {
  const findings: ContentFindings = {
    undiscovered: ['metrics.k8s.io/v1beta1'],
    failures: ['b failed', 'a failed'],
    remaining: new Map([
      ['widgets.example.com', 2],
      ['configmaps.', 1],
    ]),
    finalizers: new Map([['example.com/hold', 3]]),
  };
  const messages = conditionsAfter(namespace(), findings, NOW)!.map(({ status, message }) => `${status} ${message}`);
  expect(messages).toEqual([
    'True Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1',
    'False All legacy kube types successfully parsed',
    'True Failed to delete all resource types, 2 remaining: a failed, b failed',
    'True Some resources are remaining: configmaps. has 1 resource instances, widgets.example.com has 2 resource instances',
    'True Some content in the namespace has finalizers remaining: example.com/hold in 3 resource instances',
  ]);
});

test('the transition time moves with the status only, and conditions of others stay', () => {
  const foreign = { type: 'Mine', status: 'True', reason: 'R', message: '', lastTransitionTime: '2020-01-01T00:00:00Z' };
  const first = conditionsAfter(namespace([foreign]), { ...nothing, remaining: new Map([['pods.', 2]]) }, NOW)!;
  const second = conditionsAfter(namespace(first), { ...nothing, remaining: new Map([['pods.', 1]]) }, NOW + 5000)!;
  const third = conditionsAfter(namespace(second), nothing, NOW + 9000)!;
  const time = (list: typeof first): string | undefined =>
    list.find(({ type }) => type === 'NamespaceContentRemaining')?.lastTransitionTime;
  expect([time(first), time(second), time(third)]).toEqual(['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:09Z']);
  expect(third[0]).toEqual(foreign);
});
