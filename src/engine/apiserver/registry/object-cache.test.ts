import { expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import type { Entry } from '../../store/store.ts';
import { ObjectCache } from './object-cache.ts';
import type { Resource } from './resource.ts';

it.each([
  ['status.phase', 'Running'],
  ['constructor', 'own'],
  ['__proto__', 'own'],
  ['status.none', ''],
])('field %s of an object is read once and then known', (path, expected) => {
  let reads = 0;
  const read = (text: string) => (): string => (reads++, text);
  const selectableFields = { 'status.phase': read('Running'), constructor: read('own'), ['__proto__']: read('own') };
  const resource = { selectableFields } as unknown as Resource;
  const cache = new ObjectCache(1000);
  const object: KubeObject = { apiVersion: 'v1', kind: 'Walk', metadata: { name: 'a' } };
  const bytes = Buffer.from(JSON.stringify(object));
  const entry = { key: 'walks/a', bytes, revision: 1, attachment: undefined } as unknown as Entry;
  expect([cache.field(entry, resource, path), cache.field(entry, resource, path)]).toEqual([expected, expected]);
  // No field can be called so; it is only never taken for something else.
  if (path !== '__proto__') expect(reads).toBeLessThanOrEqual(1);
});
