import { expect, it } from 'vitest';
import type { ManagedFieldsEntry } from '../../../kube/object.ts';
import { restoreManagedFields } from './after-admission.ts';
import { aConfigMap } from './testing/resources.ts';

const entry: ManagedFieldsEntry = {
  manager: 'm',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': {} },
};

it('entries that a webhook broke come back, with a warning', () => {
  const object = aConfigMap({}, { managedFields: [{ ...entry, apiVersion: '' }] });
  const warnings: string[] = [];
  restoreManagedFields(object, [entry], (text) => warnings.push(text));
  expect(object.metadata.managedFields).toEqual([entry]);
  expect(warnings).toEqual([
    '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: apiVersion must not be empty',
  ]);
});

it('entries that a webhook changed in a valid way stay', () => {
  const changed = { ...entry, manager: 'webhook' };
  const object = aConfigMap({}, { managedFields: [changed] });
  restoreManagedFields(object, [entry], () => expect.unreachable());
  expect(object.metadata.managedFields).toEqual([changed]);
});
