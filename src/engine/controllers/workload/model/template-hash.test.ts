import { expect, test } from 'vitest';
import { templateHash } from './template-hash.ts';

const template = { metadata: { labels: { b: '1', a: '2' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

test('templateHash does not depend on the order of fields', () => {
  const reordered = { spec: { containers: [{ image: 'i', name: 'c' }] }, metadata: { labels: { a: '2', b: '1' } } };
  expect(templateHash(reordered, undefined)).toBe(templateHash(template, undefined));
  expect(templateHash(template, undefined)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
});

test('templateHash differs by content and by collisions', () => {
  const other = { ...template, spec: { containers: [{ name: 'c', image: 'j' }] } };
  const hashes = [templateHash(template, undefined), templateHash(template, 1), templateHash(template, 2), templateHash(other, undefined)];
  expect(new Set(hashes).size).toBe(4);
});
