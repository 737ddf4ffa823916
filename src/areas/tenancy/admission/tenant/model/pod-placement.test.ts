import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../../kube/object.ts';
import { pinned, unpinned } from '../../../tenant/model/pin.ts';
import { awayFromTenants, foreignPlacement, machineAccess, toleratesAnyTenant } from './pod-placement.ts';

const KEY = 'tenantry.dev/tenant';
const terms = (...matchExpressions: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } },
});

describe('foreignPlacement', () => {
  test.each<[string, Json, boolean, string | undefined]>([
    ['nothing asked', {}, false, undefined],
    ['other taints', { tolerations: [{ key: 'gpu', operator: 'Exists' }] }, false, undefined],
    [
      'taints of the node’s state',
      { tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }] },
      false,
      undefined,
    ],
    ['the own taint', { tolerations: [{ key: KEY, operator: 'Equal', value: 'acme', effect: 'NoSchedule' }] }, false, undefined],
    ['the own taint, operator left out', { tolerations: [{ key: KEY, value: 'acme' }] }, false, undefined],
    ['another’s taint', { tolerations: [{ key: KEY, value: 'beta' }] }, true, 'tolerates the taint'],
    ['every tenant’s taint', { tolerations: [{ key: KEY, operator: 'Exists' }] }, true, 'tolerates the taint'],
    ['every taint, on shared nodes', { tolerations: [{ operator: 'Exists' }] }, false, 'tolerates every taint'],
    ['every taint against scheduling', { tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }] }, false, 'tolerates every taint'],
    ['every taint that evicts', { tolerations: [{ operator: 'Exists', effect: 'NoExecute' }] }, false, undefined],
    ['every taint, on nodes of its own', { tolerations: [{ operator: 'Exists' }] }, true, undefined],
    ['another’s nodes', { nodeSelector: { [KEY]: 'beta' } }, true, 'nodeSelector names'],
    ['its own nodes', { nodeSelector: { [KEY]: 'acme' } }, true, undefined],
    ['another’s nodes, by affinity', terms({ key: KEY, operator: 'In', values: ['acme', 'beta'] }), true, 'nodeAffinity names'],
    ['any tenant’s nodes, by affinity', terms({ key: KEY, operator: 'Exists' }), true, 'nodeAffinity names'],
    ['no tenant’s nodes, by affinity', terms({ key: KEY, operator: 'DoesNotExist' }), false, undefined],
    ['one node, as DaemonSets do', terms({ key: 'kubernetes.io/hostname', operator: 'In', values: ['a'] }), false, undefined],
  ])('%s', (_what, spec, isPinned, expected) => {
    const why = foreignPlacement(spec, 'acme', isPinned);
    if (expected === undefined) expect(why).toBeUndefined();
    else expect(why).toContain(expected);
    expect(why ?? '').not.toContain('beta');
  });
});

test.each([
  [{ hostNetwork: true }, 'hostNetwork'],
  [{ hostPID: true }, 'hostPID'],
  [{ hostIPC: true }, 'hostIPC'],
  [
    {
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'w', hostPath: { path: '/' } },
      ],
    },
    '"w" is a hostPath',
  ],
])('machineAccess refuses %j', (spec, why) => {
  expect(machineAccess(spec)).toContain(why);
  expect(machineAccess({ containers: [] })).toBeUndefined();
});

describe('pinned', () => {
  test('adds selector and toleration once, and unpinned takes exactly these away', () => {
    const spec = { nodeSelector: { disk: 'fast' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] };
    const once = pinned(spec, 'acme');
    expect(once.nodeSelector).toEqual({ disk: 'fast', [KEY]: 'acme' });
    expect(once.tolerations).toHaveLength(2);
    expect(pinned(once, 'acme')).toBe(once);
    expect(unpinned(once, 'acme')).toEqual(spec);
    expect(unpinned(spec, 'acme')).toBe(spec);
  });
});

describe('awayFromTenants', () => {
  const AWAY = { key: KEY, operator: 'DoesNotExist' };
  test('adds to every term, or makes one, and changes nothing the second time', () => {
    expect(toleratesAnyTenant({ tolerations: [{ operator: 'Exists' }] })).toBe(true);
    expect(awayFromTenants({})).toEqual(terms(AWAY));
    const zone = { key: 'zone', operator: 'In', values: ['a'] };
    const both = awayFromTenants(terms(zone));
    expect(both).toEqual(terms(zone, AWAY));
    expect(awayFromTenants(both)).toBe(both);
  });
});
