import { expect, test } from 'vitest';
import { parseCgroupLayout, unescapeMountPath } from './cgroup-layout.ts';

const ROOT = '27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard';
const TMPFS = '31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755';
const CPU = '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct';
const MEMORY = '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory';
const PIDS = '39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids';
const SYSTEMD = '40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd';
const UNIFIED = '41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw';
const V2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot';

const lines = (...all: string[]): string => `${all.join('\n')}\n`;

test('layout is v2, when one tree of cgroup2 is mounted', () => {
  expect(parseCgroupLayout(lines(ROOT, V2))).toEqual({
    version: 'v2',
    controllers: new Map([['unified', '/sys/fs/cgroup']]),
    trees: ['/sys/fs/cgroup'],
  });
});

test('layout is v1 with every tree once, when controllers have trees of their own beside an empty v2 tree', () => {
  const layout = parseCgroupLayout(lines(ROOT, TMPFS, CPU, MEMORY, PIDS, SYSTEMD, UNIFIED));
  expect(layout?.version).toBe('v1');
  expect(layout?.controllers.get('cpuacct')).toBe('/sys/fs/cgroup/cpu,cpuacct');
  expect(layout?.trees).toEqual([
    '/sys/fs/cgroup/cpu,cpuacct',
    '/sys/fs/cgroup/memory',
    '/sys/fs/cgroup/pids',
    '/sys/fs/cgroup/systemd',
    '/sys/fs/cgroup/unified',
  ]);
});

test('layout takes the first place of a tree, when it is mounted twice', () => {
  const again = MEMORY.replace('/sys/fs/cgroup/memory', '/mnt/memory');
  expect(parseCgroupLayout(lines(MEMORY, again, PIDS))?.controllers.get('memory')).toBe('/sys/fs/cgroup/memory');
});

test('layout is v2, when systemd keeps a named v1 tree without controllers', () => {
  expect(parseCgroupLayout(lines(V2, SYSTEMD))?.version).toBe('v2');
});

test('layout is undefined, when no cgroups are mounted', () => {
  expect(parseCgroupLayout(lines(ROOT, TMPFS))).toBeUndefined();
});

test('unescapeMountPath gives the path back, with spaces in it', () => {
  expect(unescapeMountPath(String.raw`/data\040of\040mine\134`)).toBe('/data of mine\\');
});
