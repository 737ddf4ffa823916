import { expect, it } from 'vitest';
import { compareVersions } from './version-order.ts';

it('compareVersions orders as Kubernetes does', () => {
  const sorted = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'];
  expect([...sorted].reverse().sort((a, b) => compareVersions(b, a))).toEqual(sorted);
});
