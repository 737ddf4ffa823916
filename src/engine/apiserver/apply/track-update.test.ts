import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../kube/json-value.ts';
import type { Json, KubeObject, ManagedFieldsEntry } from '../../../kube/object.ts';
import { aConfigMap, aCustomKind, aDeployment, CONFIG_MAPS, DEPLOYMENTS, owners, T0, T1 } from './testing/resources.ts';
import { trackUpdate } from './track-update.ts';

const track = (old: KubeObject | undefined, next: KubeObject, options: Json = {}): KubeObject => {
  if (old) deepFreeze(old);
  trackUpdate(old, next, { manager: 'kubectl', resource: CONFIG_MAPS, subresource: '', now: T0, ...options });
  return next;
};
const created = (data: Json, metadata: Json = {}): KubeObject => track(undefined, aConfigMap(data, { uid: 'u', ...metadata }));

describe('a create', () => {
  it('owns everything but what belongs to the server', () => {
    const object = created(
      { a: '1' },
      { labels: { x: 'y' }, creationTimestamp: 't', resourceVersion: '1', generation: 1, finalizers: ['a/b'] },
    );
    expect(object.metadata.managedFields).toEqual([
      {
        manager: 'kubectl',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2024-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:data': { '.': {}, 'f:a': {} },
          'f:metadata': { 'f:finalizers': { '.': {}, 'v:"a/b"': {} }, 'f:labels': { '.': {}, 'f:x': {} } },
        },
      },
    ]);
  });

  it('owns structs through their fields, and lists by the keys of their items', () => {
    const container = { name: 'c', image: 'i', args: ['x'], ports: [{ containerPort: 80 }], resources: {} };
    const spec = { selector: { matchLabels: { a: 'b' } }, strategy: { type: 'Recreate' }, template: { spec: { containers: [container] } } };
    expect(owners(track(undefined, aDeployment(spec), { resource: DEPLOYMENTS }))).toEqual({
      'kubectl Update': {
        'f:spec': {
          'f:selector': {},
          'f:strategy': { 'f:type': {} },
          'f:template': {
            'f:spec': {
              'f:containers': {
                'k:{"name":"c"}': {
                  '.': {},
                  'f:args': {},
                  'f:image': {},
                  'f:name': {},
                  'f:ports': { '.': {}, 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
                  'f:resources': {},
                },
              },
            },
          },
        },
      },
    });
  });

  it('of a custom kind owns its objects too, as there is no Go struct that was there before', () => {
    const spec = { type: 'object', properties: { size: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } } };
    const widget = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', finalizers: ['a/b'] },
      spec: { size: 1, tags: ['x'] },
    };
    expect(owners(track(undefined, widget, { resource: aCustomKind(spec) }))).toEqual({
      'kubectl Update': {
        'f:metadata': { 'f:finalizers': { '.': {}, 'v:"a/b"': {} } },
        'f:spec': { '.': {}, 'f:size': {}, 'f:tags': {} },
      },
    });
  });

  it('without a manager is recorded as unknown', () => {
    expect(Object.keys(owners(track(undefined, aConfigMap({ a: '1' }), { manager: '' })))).toEqual(['unknown Update']);
  });
});

describe('an update', () => {
  const base = created({ a: '1', b: '1' });
  const change = (data: Json, options: Json = {}, from = base): KubeObject =>
    track(from, aConfigMap(data, { uid: 'u', managedFields: structuredClone(from.metadata.managedFields) }), { now: T1, ...options });

  it('that changes nothing shares the entries', () => {
    expect(change({ a: '1', b: '1' }, { manager: 'other' }).metadata.managedFields).toBe(base.metadata.managedFields);
  });

  it('moves changed fields to the manager', () => {
    expect(owners(change({ a: '2', b: '1' }, { manager: 'other' }))).toEqual({
      'kubectl Update': { 'f:data': { '.': {}, 'f:b': {} } },
      'other Update': { 'f:data': { 'f:a': {} } },
    });
  });

  it('by the owner moves its time', () => {
    const [entry] = change({ a: '2', b: '1' }).metadata.managedFields!;
    expect(entry).toEqual({ ...base.metadata.managedFields![0], time: '2024-01-01T00:00:05Z' });
  });

  it('that removes a field takes it from its owner, whose time stays', () => {
    const { managedFields } = change({ a: '1' }, { manager: 'other' }).metadata;
    expect(managedFields).toEqual([{ ...base.metadata.managedFields![0], fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } } }]);
  });

  it('that takes the last field of a manager drops it', () => {
    const shared = change({ a: '2', b: '1' }, { manager: 'other' });
    const back = track(shared, aConfigMap({ a: '3', b: '1' }, { uid: 'u' }), { manager: 'kubectl', now: T1 });
    expect(Object.keys(owners(back))).toEqual(['kubectl Update']);
  });

  it('through a subresource is recorded apart, and cannot own what the subresource resets', () => {
    const old = track(undefined, { ...aDeployment({ replicas: 1 }, { uid: 'u' }), status: {} }, { resource: DEPLOYMENTS });
    const next = { ...aDeployment({ replicas: 2 }, { uid: 'u', managedFields: [] }), status: { replicas: 1 } };
    expect(owners(track(old, next, { resource: DEPLOYMENTS, subresource: 'status', manager: 'controller' }))).toEqual({
      'kubectl Update': { 'f:spec': { 'f:replicas': {} } },
      'controller Update status': { 'f:status': { 'f:replicas': {} } },
    });
  });
});

describe('managedFields that the client sends', () => {
  const base = created({ a: '1' });
  const send = (managedFields: Json, data: Json = { a: '1' }): KubeObject =>
    track(base, aConfigMap(data, { uid: 'u', managedFields }), { manager: 'other' });

  it.each([[[]], [[{}]]])('%j forgets all managers', (managedFields) =>
    expect(send(managedFields, { a: '2' }).metadata).not.toHaveProperty('managedFields'),
  );

  it('count when they are valid, in canonical form', () => {
    const entry = {
      manager: 'm',
      operation: 'Apply',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {}, '.': {} } },
    };
    expect(JSON.stringify(owners(send([entry])))).toBe('{"m Apply":{"f:data":{".":{},"f:a":{}}}}');
  });

  it.each<[string, Partial<ManagedFieldsEntry>]>([
    ['an unknown operation', { operation: 'Patch' as 'Apply' }],
    ['no apiVersion', { apiVersion: '' }],
    ['no fieldsType', { fieldsType: undefined }],
    ['fields that are no fields', { fieldsV1: { nonsense: {} } }],
  ])('are ignored with %s', (_, broken) => {
    const entry = { manager: 'm', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {}, ...broken };
    expect(Object.keys(owners(send([entry])))).toEqual(['kubectl Update']);
  });

  it('an object without entries stays untracked', () => {
    const untracked = aConfigMap({ a: '1' }, { uid: 'u' });
    expect(track(untracked, aConfigMap({ a: '2' }, { uid: 'u' })).metadata).not.toHaveProperty('managedFields');
  });
});

it('more than ten updaters are put together, the oldest first', () => {
  let object = created({});
  for (let i = 0; i < 13; i++) {
    const now = (): Date => new Date(Date.UTC(2024, 0, 1, 0, 0, i));
    const data = { ...(object.data as object), [`k${i}`]: '1' };
    object = track(object, aConfigMap(data, { uid: 'u', managedFields: object.metadata.managedFields ?? [] }), { manager: `m${i}`, now });
    if (i === 0) object = track(undefined, aConfigMap(data, { uid: 'u' }), { manager: 'm0', now });
  }
  const names = object.metadata.managedFields!.map((entry) => entry.manager);
  expect(names).toEqual(['ancient-changes', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'm12']);
  expect(owners(object)['ancient-changes Update']).toEqual({ 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} } });
});
