import { expect, it } from 'vitest';
import { contains } from './contains.ts';

const LIMITS = { metadata: { name: 'limits', labels: { a: 'b' } }, spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } };

it.each<[string, unknown, boolean]>([
  ['as it was wanted', LIMITS, true],
  ['with what the server adds', { ...LIMITS, metadata: { ...LIMITS.metadata, uid: 'x' }, status: {} }, true],
  ['with another value', { ...LIMITS, spec: { limits: [{ type: 'Container', default: { cpu: '2' } }] } }, false],
  ['without a label', { ...LIMITS, metadata: { name: 'limits' } }, false],
  ['with one more in a list', { ...LIMITS, spec: { limits: [...LIMITS.spec.limits, { type: 'Pod' }] } }, false],
  ['with an empty list', { ...LIMITS, spec: { limits: [] } }, false],
  ['with nothing in place of a list', { ...LIMITS, spec: { limits: null } }, false],
])('contains knows an object %s', (_name, existing, expected) => {
  expect(contains(existing, LIMITS)).toBe(expected);
});
