import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { createAdmission } from '../chain.ts';
import { aPod, aRequest, refusalOf, type RecordedRequest } from '../testing/a-request.ts';
import { ObjectsInMemory } from '../testing/objects-in-memory.ts';
import { resourceQuota, type WiderQuota } from './resource-quota.ts';

const QUOTAS = { group: '', resource: 'resourcequotas' };

function aQuota(name: string, hard: Record<string, string>, extra: { used?: Json; spec?: Json } = {}): KubeObject {
  const used = extra.used ?? Object.fromEntries(Object.keys(hard).map((key) => [key, '0']));
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name, namespace: 'team' },
    spec: { hard, ...extra.spec },
    status: { hard, used },
  };
}

function withQuotas(...quotas: KubeObject[]) {
  const objects = new ObjectsInMemory();
  for (const quota of quotas) objects.put(QUOTAS, quota);
  const plugin = resourceQuota({ writer: objects, now: () => Date.parse('2026-01-01T00:00:00Z') });
  const validate = (request: RecordedRequest) => (plugin.handles(request) ? plugin.validate!(request) : undefined);
  const used = (name: string): Json => objects.get(QUOTAS, 'team', name)!.status.used;
  return { objects, plugin, validate, used };
}

const podOf = (requests: Json, limits?: Json, spec: Json = {}) =>
  aRequest('pods', aPod({ containers: [{ name: 'c', resources: { requests, limits } }], ...spec }));

describe('resourceQuota', () => {
  it('charges a create and stays synchronous', () => {
    const { validate, used } = withQuotas(aQuota('q', { pods: '2', 'requests.cpu': '1', 'limits.memory': '1Gi', 'count/pods': '9' }));
    expect(validate(podOf({ cpu: '250m' }, { memory: '64Mi' }))).toBeUndefined();
    expect(used('q')).toEqual({ pods: '1', 'requests.cpu': '250m', 'limits.memory': '64Mi', 'count/pods': '1' });
  });

  it('refuses what does not fit, naming only what exceeds', async () => {
    const { validate, used } = withQuotas(aQuota('q', { pods: '2', 'requests.cpu': '10' }, { used: { pods: '2', 'requests.cpu': '1' } }));
    expect(await refusalOf(() => validate(podOf({ cpu: '1' })))).toBe(
      'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
    );
    expect(used('q')).toEqual({ pods: '2', 'requests.cpu': '1' });
  });

  it('lets exactly as many parallel creates through as fit', async () => {
    const { validate, used } = withQuotas(aQuota('q', { pods: '7' }));
    const refusals = await Promise.all(Array.from({ length: 20 }, () => refusalOf(() => validate(podOf({})))));
    expect(refusals.filter((text) => text === '')).toHaveLength(7);
    expect(used('q')).toEqual({ pods: '7' });
  });

  it('charges none of several quotas when one has no room', async () => {
    const { validate, used } = withQuotas(aQuota('a', { pods: '5' }), aQuota('b', { 'count/pods': '0' }));
    expect(await refusalOf(() => validate(podOf({})))).toContain('exceeded quota: b, requested: count/pods=1, used: count/pods=0');
    expect(used('a')).toEqual({ pods: '0' });
  });

  it('asks for the amounts it counts', async () => {
    const { validate } = withQuotas(aQuota('q', { 'limits.cpu': '1', 'requests.memory': '1Gi' }));
    const request = aRequest('pods', aPod({ containers: [{ name: 'b' }, { name: 'a', resources: { limits: { cpu: '1' } } }] }));
    expect(await refusalOf(() => validate(request))).toBe(
      'pods "p" is forbidden: failed quota: q: must specify limits.cpu for: b; requests.memory for: a,b',
    );
  });

  it('refuses while the usage is not known', async () => {
    const { validate } = withQuotas(aQuota('q', { pods: '1', secrets: '3' }, { used: {} }));
    expect(await refusalOf(() => validate(podOf({})))).toBe('pods "p" is forbidden: status unknown for quota: q, resources: pods');
  });

  it('charges nothing on dry runs and refuses them all the same', async () => {
    const { validate, used, objects } = withQuotas(aQuota('q', { pods: '1' }));
    void validate({ ...podOf({}), dryRun: true });
    expect(objects.writes).toBe(1);
    void validate(podOf({}));
    expect(await refusalOf(() => validate({ ...podOf({}), dryRun: true }))).toContain('exceeded quota');
    expect(used('q')).toEqual({ pods: '1' });
  });

  it('gives the charge back when the write is abandoned', () => {
    const { plugin, used } = withQuotas(aQuota('q', { pods: '1', 'requests.memory': '1Gi' }));
    const admission = createAdmission({ plugins: [plugin] });
    const request = podOf({ memory: '1Gi' });
    void admission.validate(request);
    expect(used('q')).toEqual({ pods: '1', 'requests.memory': '1Gi' });
    admission.abandon(request);
    expect(used('q')).toEqual({ pods: '0', 'requests.memory': '0' });
  });

  it('ignores namespaces without quotas and quotas that limit nothing yet', () => {
    const { plugin, validate } = withQuotas({ ...aQuota('q', { pods: '0' }), status: {} });
    expect(plugin.handles(aRequest('pods', aPod({}, { namespace: 'other' })))).toBe(false);
    void validate(podOf({}));
  });

  const claim = (storage: string, extra: Json = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c', namespace: 'team' },
    spec: { resources: { requests: { storage } }, storageClassName: 'gold', ...extra },
  });

  it('charges the difference of an update', () => {
    const hard = { 'requests.storage': '10Gi', 'gold.storageclass.storage.k8s.io/requests.storage': '10Gi', persistentvolumeclaims: '1' };
    const used = { 'requests.storage': '2Gi', 'gold.storageclass.storage.k8s.io/requests.storage': '2Gi', persistentvolumeclaims: '1' };
    const quotas = withQuotas(aQuota('q', hard, { used }));
    const request = aRequest('persistentvolumeclaims', claim('5Gi'), { operation: 'UPDATE', oldObject: claim('2Gi') });
    void quotas.validate(request);
    expect(quotas.used('q')).toEqual({ ...used, 'requests.storage': '5Gi', 'gold.storageclass.storage.k8s.io/requests.storage': '5Gi' });
  });

  it('writes nothing for an update that takes nothing more', () => {
    const { validate, objects } = withQuotas(aQuota('q', { 'requests.storage': '1Gi' }, { used: { 'requests.storage': '2Gi' } }));
    void validate(aRequest('persistentvolumeclaims', claim('1Gi'), { operation: 'UPDATE', oldObject: claim('2Gi') }));
    expect(objects.writes).toBe(1);
  });

  it('counts objects of any resource by name and group', async () => {
    const { validate } = withQuotas(aQuota('q', { 'count/widgets.example.com': '0', configmaps: '0' }));
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'team' } };
    expect(await refusalOf(() => validate(aRequest('widgets', widget)))).toContain(
      'exceeded quota: q, requested: count/widgets.example.com=1, used: count/widgets.example.com=0, limited: count/widgets.example.com=0',
    );
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'team' } };
    expect(await refusalOf(() => validate(aRequest('configmaps', configMap)))).toContain('requested: configmaps=1');
  });

  it('charges in full when an update brings a pod into its scope', () => {
    const { validate, used } = withQuotas(aQuota('q', { pods: '5' }, { spec: { scopes: ['Terminating'] } }));
    const request = aRequest('pods', aPod({ activeDeadlineSeconds: 60 }), { operation: 'UPDATE', oldObject: aPod() });
    void validate(request);
    expect(used('q')).toEqual({ pods: '1' });
  });
});

describe('resourceQuota scopes', () => {
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['other'] }] } };

  it.each<[string, Json, Json, boolean]>([
    ['BestEffort', { scopes: ['BestEffort'] }, {}, true],
    ['NotBestEffort', { scopes: ['NotBestEffort'] }, {}, false],
    ['Terminating', { scopes: ['Terminating'] }, { activeDeadlineSeconds: 5 }, true],
    ['NotTerminating', { scopes: ['NotTerminating'] }, { activeDeadlineSeconds: 5 }, false],
    ['PriorityClass exists', { scopes: ['PriorityClass'] }, { priorityClassName: 'high' }, true],
    [
      'PriorityClass in',
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['low'] }] } },
      { priorityClassName: 'high' },
      false,
    ],
    ['CrossNamespacePodAffinity', { scopes: ['CrossNamespacePodAffinity'] }, { affinity }, true],
    ['two at once', { scopes: ['BestEffort', 'Terminating'] }, {}, false],
  ])('%s', async (_name, spec, podSpec, limited) => {
    const { validate } = withQuotas(aQuota('q', { pods: '0' }, { spec }));
    expect((await refusalOf(() => validate(podOf({}, {}, podSpec)))).includes('exceeded quota')).toBe(limited);
  });
});

describe('resourceQuota and places that no quota counts', () => {
  function withPlaces(free: number) {
    const taken = new Set<string>();
    const wider: WiderQuota = {
      refusal: () => undefined,
      charged: () => {},
      ready: () => undefined,
      hasPlaces: ({ resource }) => resource === 'runs',
      placeRefusal: () => (taken.size < free ? undefined : 'no place'),
      takePlace(_namespace, uid) {
        taken.add(uid);
        return () => void taken.delete(uid);
      },
    };
    const plugin = resourceQuota({ writer: new ObjectsInMemory(), now: () => 0, wider: () => wider });
    const validate = (request: RecordedRequest) => (plugin.handles(request) ? plugin.validate!(request) : undefined);
    return { taken, plugin, validate };
  }
  const aRun = (uid: string, changes: Partial<RecordedRequest> = {}) =>
    aRequest('runs', { apiVersion: 'kruntimes.io/v1alpha1', kind: 'Run', metadata: { name: uid, uid, namespace: 'team' } }, changes);

  it('takes one for a create, without any quota in the namespace, and refuses when there is none left', async () => {
    const { taken, validate } = withPlaces(1);
    expect(validate(aRun('a'))).toBeUndefined();
    expect(await refusalOf(() => validate(aRun('b')))).toBe('runs.kruntimes.io "b" is forbidden: no place');
    expect([...taken]).toEqual(['a']);
  });

  it('gives it back when the write fails', () => {
    const { taken, plugin } = withPlaces(1);
    const request = aRun('a');
    const admission = createAdmission({ plugins: [plugin] });
    void admission.validate(request);
    expect(taken.size).toBe(1);
    admission.abandon(request);
    expect(taken.size).toBe(0);
  });

  it.each<[string, Partial<RecordedRequest>]>([
    ['a dry run', { dryRun: true }],
    ['an update', { operation: 'UPDATE' }],
    ['a subresource', { subresource: 'status' }],
  ])('takes none for %s', (_name, changes) => {
    const { taken, validate } = withPlaces(1);
    void validate(aRun('a', changes));
    expect(taken.size).toBe(0);
  });
});
