import { expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { aConfigMap } from './testing/resources.ts';
import { keepTimesIfUnchanged } from './unchanged-times.ts';

const at = (time: string, data: object, fields: object = { 'f:data': {} }): KubeObject =>
  aConfigMap(data, {
    managedFields: [{ manager: 'm', operation: 'Update', apiVersion: 'v1', time, fieldsType: 'FieldsV1', fieldsV1: fields }],
  });

it('a write that changes times only changes nothing', () => {
  const [old, next] = [at('T0', { a: '1' }), at('T1', { a: '1' })];
  keepTimesIfUnchanged(old, next);
  expect(next.metadata.managedFields).toBe(old.metadata.managedFields);
});

it('times stay new, when the object changed', () => {
  const next = at('T1', { a: '2' });
  keepTimesIfUnchanged(at('T0', { a: '1' }), next);
  expect(next.metadata.managedFields![0].time).toBe('T1');
});

it('times stay new, when fields changed hands', () => {
  const next = at('T1', { a: '1' }, { 'f:data': { 'f:a': {} } });
  keepTimesIfUnchanged(at('T0', { a: '1' }), next);
  expect(next.metadata.managedFields![0].time).toBe('T1');
});
