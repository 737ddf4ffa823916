import { expect, test } from 'vitest';
import { path } from './path.ts';

test('path, prints as Go does, of children, indexes and keys', () => {
  expect(path('spec').child('containers').index(0).child('resources', 'limits').key('cpu').toString()).toBe(
    'spec.containers[0].resources.limits[cpu]',
  );
});

test('path, prints an empty subscript, of an empty name', () => {
  expect(path('').toString()).toBe('[]');
});
