import { describe, expect, it } from 'vitest';
import { deepCopy, deepFreeze } from '../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { StatusError } from '../../../kube/status.ts';
import { applyConfiguration } from './apply.ts';
import { aConfigMap, aCustomKind, aDeployment, CONFIG_MAPS, DEPLOYMENTS, owners, T0, T1 } from './testing/resources.ts';
import { trackUpdate } from './track-update.ts';

const withoutNulls = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([k, v]) => (v === null ? [] : [[k, withoutNulls(v)]])));
};
const apply = (live: KubeObject | undefined, config: Json, options: Json = {}): KubeObject => {
  if (live) deepFreeze(live);
  const how = { manager: 'alice', force: false, resource: CONFIG_MAPS, subresource: '', now: T0, ...options };
  const applied = applyConfiguration(live, deepFreeze(config), how, withoutNulls);
  // The server gives a new object its uid.
  if (!live) applied.metadata.uid = 'u';
  return applied;
};
const refusal = (run: () => unknown): StatusError => {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('was not refused');
};

describe('apply', () => {
  it('creates an object and owns what it states', () => {
    const object = apply(undefined, aConfigMap({ a: '1' }));
    expect(object.data).toEqual({ a: '1' });
    expect(object.metadata.managedFields).toEqual([
      {
        manager: 'alice',
        operation: 'Apply',
        apiVersion: 'v1',
        time: '2024-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} } },
      },
    ]);
  });

  it('removes what the manager applied before and no longer does', () => {
    const object = apply(apply(undefined, aConfigMap({ a: '1', b: '1' }, { labels: { x: 'y' } })), aConfigMap({ b: '1' }));
    expect([object.data, object.metadata.labels, object.metadata.name]).toEqual([{ b: '1' }, undefined, 'cm']);
    expect(owners(object)).toEqual({ 'alice Apply': { 'f:data': { 'f:b': {} } } });
  });

  it('keeps what somebody else owns too', () => {
    const shared = apply(apply(undefined, aConfigMap({ a: '1' })), aConfigMap({ a: '1' }), { manager: 'bob' });
    expect(owners(shared)).toEqual({ 'alice Apply': { 'f:data': { 'f:a': {} } }, 'bob Apply': { 'f:data': { 'f:a': {} } } });
    const left = apply(shared, aConfigMap({ c: '1' }));
    expect(left.data).toEqual({ a: '1', c: '1' });
  });

  it('leaves fields alone that nobody applied', () => {
    const live = aConfigMap({ a: '1', mine: '1' }, { uid: 'u' });
    trackUpdate(undefined, live, { manager: 'kubectl', resource: CONFIG_MAPS, subresource: '', now: T0 });
    expect(apply(live, aConfigMap({ a: '1' })).data).toEqual({ a: '1', mine: '1' });
  });

  it('that changes nothing keeps the object and its time', () => {
    const first = apply(undefined, aConfigMap({ a: '1' }));
    expect(apply(first, aConfigMap({ a: '1' }), { now: T1 })).toEqual(first);
    expect(apply(first, aConfigMap({ a: '2' }), { now: T1 }).metadata.managedFields![0].time).toBe('2024-01-01T00:00:05Z');
  });

  it('merges items of lists by their keys, in the order of the configuration', () => {
    const spec = (...containers: Json[]): Json => ({ template: { spec: { containers } } });
    const live = apply(undefined, aDeployment(spec({ name: 'a', image: '1' }, { name: 'b', image: '1' })), { resource: DEPLOYMENTS });
    const next = apply(live, aDeployment(spec({ name: 'c', image: '1' }, { name: 'b', image: '1' })), {
      resource: DEPLOYMENTS,
      manager: 'bob',
    });
    expect(next.spec.template.spec.containers.map((c: Json) => c.name)).toEqual(['a', 'c', 'b']);
    const gone = apply(next, aDeployment(spec({ name: 'b', image: '1' })), { resource: DEPLOYMENTS });
    expect(gone.spec.template.spec.containers.map((c: Json) => c.name)).toEqual(['c', 'b']);
  });

  it('gives an object that nobody tracked to before-first-apply', () => {
    const live = aConfigMap({ a: '1' }, { uid: 'u' });
    expect(refusal(() => apply(live, aConfigMap({ a: '2' }))).message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
    );
    expect(Object.keys(owners(apply(live, aConfigMap({ b: '1' }))))).toEqual(['alice Apply', 'before-first-apply Update']);
  });

  it('tracks custom kinds without a schema for their contents', () => {
    const resource = aCustomKind({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
    const widget = (spec: Json): Json => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec });
    const object = apply(undefined, widget({ any: { deep: 1 }, list: [{ a: 1 }] }), { resource });
    expect(owners(object)).toEqual({ 'alice Apply': { 'f:spec': { 'f:any': { '.': {}, 'f:deep': {} }, 'f:list': {} } } });
    expect(apply(object, widget({ any: { other: 1 } }), { resource }).spec).toEqual({ any: { other: 1 } });
  });
});

describe('conflicts', () => {
  const live = aDeployment({ replicas: 1, paused: true }, { uid: 'u' });
  trackUpdate(undefined, live, { manager: 'kubectl', resource: DEPLOYMENTS, subresource: '', now: T0 });
  const change = (spec: Json, options: Json = {}): KubeObject =>
    apply(deepCopy(live), aDeployment(spec), { resource: DEPLOYMENTS, ...options });

  it('one is refused with its field and owner', () => {
    expect(refusal(() => change({ replicas: 2 })).status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas',
      reason: 'Conflict',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "kubectl" using apps/v1', field: '.spec.replicas' }] },
      code: 409,
    });
  });

  it('several are listed by owner', () => {
    const mixed = change({ replicas: 1 }, { manager: 'bob' });
    expect(refusal(() => apply(mixed, aDeployment({ replicas: 2, paused: false }), { resource: DEPLOYMENTS })).message).toBe(
      'Apply failed with 3 conflicts: conflicts with "bob":\n- .spec.replicas\nconflicts with "kubectl" using apps/v1:\n- .spec.paused\n- .spec.replicas',
    );
  });

  it('force takes the field over', () => {
    expect(owners(change({ replicas: 2 }, { force: true }))).toEqual({
      'alice Apply': { 'f:spec': { 'f:replicas': {} } },
      'kubectl Update': { 'f:spec': { 'f:paused': {} } },
    });
  });

  it('the same value is no conflict: both own it', () => {
    expect(owners(change({ replicas: 1 }))['alice Apply']).toEqual({ 'f:spec': { 'f:replicas': {} } });
  });

  it('names items by their keys and subresources by their name', () => {
    const spec = (image: string): Json => ({ template: { spec: { containers: [{ name: 'c', image }] } } });
    const owned = aDeployment(spec('1'), { uid: 'u' });
    trackUpdate(undefined, owned, { manager: 'ctl', resource: DEPLOYMENTS, subresource: 'scale', now: T0 });
    expect(refusal(() => apply(owned, aDeployment(spec('2')), { resource: DEPLOYMENTS })).message).toBe(
      'Apply failed with 1 conflict: conflict with "ctl" with subresource "scale" using apps/v1: .spec.template.spec.containers[name="c"].image',
    );
  });
});

describe('kubectl moving from the client to the server', () => {
  const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
  const applied = aConfigMap({ a: '1' });
  const live = aConfigMap({ a: '1', other: '1' }, { uid: 'u', annotations: { [LAST_APPLIED]: JSON.stringify(applied) } });
  trackUpdate(undefined, live, { manager: 'kubectl-client-side-apply', resource: CONFIG_MAPS, subresource: '', now: T0 });

  it('takes over what it applied, and keeps the annotation up to date', () => {
    const object = apply(live, aConfigMap({ a: '2' }), { manager: 'kubectl' });
    expect(object.data).toEqual({ a: '2', other: '1' });
    const kept: Json = JSON.parse(object.metadata.annotations![LAST_APPLIED]);
    expect(kept).toEqual(aConfigMap({ a: '2' }));
  });

  it('still conflicts on fields that it did not apply', () => {
    expect(refusal(() => apply(live, aConfigMap({ a: '2', other: '2' }), { manager: 'kubectl' })).message).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.other',
    );
  });

  it('is for kubectl only', () => {
    expect(refusal(() => apply(live, aConfigMap({ a: '2' }), { manager: 'alice' })).message).toContain('.data.a');
  });
});

describe('configurations are refused', () => {
  it.each<[string, Json, number, string]>([
    ['with managedFields', aConfigMap({}, { managedFields: [] }), 400, 'metadata.managedFields must be nil'],
    ['of another kind', { ...aConfigMap({}), kind: 'Secret' }, 400, 'invalid object type: /v1, Kind=Secret'],
    ['of another version', { ...aConfigMap({}), apiVersion: 'x/v2' }, 400, 'invalid object type: x/v2, Kind=ConfigMap'],
    [
      'with unknown fields',
      { ...aConfigMap({}), foo: 1 },
      500,
      'failed to create typed patch object (default/cm; /v1, Kind=ConfigMap): .foo: field not declared in schema',
    ],
    [
      'with a wrong type',
      aConfigMap(['a']),
      500,
      'failed to create typed patch object (default/cm; /v1, Kind=ConfigMap): .data: expected map, got &{[a]}',
    ],
  ])('%s', (_, config, code, message) => {
    const { status } = refusal(() => apply(undefined, config));
    expect([status.code, status.message]).toEqual([code, message]);
  });

  it('with items that cannot be told apart', () => {
    const containers = [{ name: 'a' }, { name: 'a' }];
    const run = (): KubeObject => apply(undefined, aDeployment({ template: { spec: { containers } } }), { resource: DEPLOYMENTS });
    expect(refusal(run).message).toContain('.spec.template.spec.containers: duplicate entries for key [name="a"]');
  });
});
