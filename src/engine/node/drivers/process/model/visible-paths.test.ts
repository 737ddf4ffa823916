import { describe, expect, it } from 'vitest';
import { insideSandbox, isWithin, withoutSandbox } from './visible-paths.ts';

const mounts = [
  { source: '/node/volumes/data', target: '/data', readOnly: false },
  { source: '/node/volumes/inner', target: '/data/inner', readOnly: true },
];

describe('paths of a container', () => {
  const sandbox = insideSandbox(mounts, ['/usr', '/etc/hosts']);
  const open = withoutSandbox(mounts);

  it.each([
    ['/usr/bin/env', '/usr/bin/env', '/usr/bin/env'],
    ['/etc/hosts', '/etc/hosts', '/etc/hosts'],
    ['/etc/shadow', undefined, '/etc/shadow'],
    ['/data', '/node/volumes/data', '/node/volumes/data'],
    ['/data/file', '/node/volumes/data/file', '/node/volumes/data/file'],
    ['/data/inner/file', '/node/volumes/inner/file', '/node/volumes/inner/file'],
    ['/database', undefined, '/database'],
    ['/usrlocal', undefined, '/usrlocal'],
  ])('%s is %s in a sandbox and %s without', (path, inside, outside) => {
    expect([sandbox(path), open(path)]).toEqual([inside, outside]);
  });
});

describe('isWithin', () => {
  it.each([
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a', '/ab', false],
    ['/a/b', '/a', false],
    ['/', '/a', true],
    ['/a', '/a/..b', true],
  ])('isWithin(%s, %s) is %s', (folder, path, expected) => {
    expect(isWithin(folder, path)).toBe(expected);
  });
});
