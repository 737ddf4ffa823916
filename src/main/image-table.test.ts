import { expect, it } from 'vitest';
import { imageTable, withTenants } from './image-table.ts';

const APP = 'docker.io/library/app:1';
const OLD = 'docker.io/library/old:1';
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const STORED = [
  { names: [`docker.io/library/busybox@${digest('b')}`, 'docker.io/library/busybox:1.36'], digest: digest('b'), sizeBytes: 4_200_000 },
  { names: [`docker.io/library/app@${digest('a')}`, APP, 'docker.io/library/app:2'], digest: digest('a'), sizeBytes: 84_200_000 },
];

it('a list of images says by which names tenants have them, also of those that nothing else is left of', () => {
  const shared = new Map([
    [APP, digest('a')],
    [OLD, digest('c')],
  ]);
  const listed = withTenants(STORED, shared);
  expect(listed.map(({ tenants }) => tenants)).toEqual([[APP], [], [OLD]]);
  expect(imageTable(listed).split('\n')).toEqual([
    'NAME                             DIGEST         SIZE      TENANTS',
    'docker.io/library/app:1          aaaaaaaaaaaa   84.2 MB   yes',
    'docker.io/library/app:2          aaaaaaaaaaaa   84.2 MB   -',
    'docker.io/library/busybox:1.36   bbbbbbbbbbbb   4.2 MB    -',
    'docker.io/library/old:1          cccccccccccc   -         yes',
    '',
  ]);
});

it('images that were loaded just now are shown without', () => {
  expect(imageTable(STORED).split('\n')[0]).toBe('NAME                             DIGEST         SIZE');
});
