import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CgroupLayout } from './cgroup-layout.ts';
import { createCgroups } from './cgroups.ts';

// Plain folders in place of the kernel's trees: what is written where. What the kernel does with it is in test/cluster.
let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'cgroups-'))));
afterEach(() => rmSync(root, { recursive: true }));

const v2 = (): CgroupLayout => ({ version: 'v2', controllers: new Map([['unified', root]]), trees: [root] });

function v1(): CgroupLayout {
  const controllers = new Map(['cpu', 'cpuacct', 'memory', 'pids'].map((name) => [name, join(root, name)]));
  const trees = [...controllers.values(), join(root, 'systemd')];
  for (const tree of trees) mkdirSync(tree);
  return { version: 'v1', controllers, trees };
}

const read = (...path: string[]): string => readFileSync(join(root, ...path), 'utf8');

test('create lets every level use the controllers and sets the limits at the last, on v2', async () => {
  await createCgroups(v2()).create('/product/pod1', { memoryBytes: 4096, pids: 9 });
  expect(read('cgroup.subtree_control')).toBe('+cpu +memory +pids');
  expect(read('product', 'cgroup.subtree_control')).toBe('+cpu +memory +pids');
  expect(read('product/pod1', 'memory.max')).toBe('4096');
  expect(read('product/pod1', 'pids.max')).toBe('9');
});

test('create makes the cgroup in the trees that limit and sets each limit in its own, on v1', async () => {
  await createCgroups(v1()).create('/product/pod1', { cpuShares: 512, memoryBytes: 4096, pids: 9 });
  expect(read('cpu/product/pod1', 'cpu.shares')).toBe('512');
  expect(read('memory/product/pod1', 'memory.memsw.limit_in_bytes')).toBe('4096');
  expect(read('pids/product/pod1', 'pids.max')).toBe('9');
});

test('add puts the process into the trees that limit, on v1', async () => {
  const cgroups = createCgroups(v1());
  await cgroups.create('/product');
  await cgroups.add('/product', 42);
  expect(existsSync(join(root, 'systemd/product'))).toBe(false);
  for (const tree of ['cpu', 'cpuacct', 'memory', 'pids']) expect(read(tree, 'product/cgroup.procs')).toBe('42');
});

test('processes are those of the cgroup and of all below it', async () => {
  const cgroups = createCgroups(v2());
  await cgroups.create('/product/pod1/web.0');
  writeFileSync(join(root, 'product/pod1/cgroup.procs'), '1\n');
  writeFileSync(join(root, 'product/pod1/web.0/cgroup.procs'), '2\n3\n');
  expect(await cgroups.processes('/product/pod1')).toEqual([1, 2, 3]);
});

test('what is not there has no processes, children, statistics or kills', async () => {
  const cgroups = createCgroups(v1());
  expect(await cgroups.processes('/none')).toEqual([]);
  expect(await cgroups.children('/none')).toEqual([]);
  expect(await cgroups.stats('/none')).toBeUndefined();
  expect(await cgroups.oomKills('/none')).toBe(0);
  await cgroups.remove('/none');
});

test('stats are CPU time and working set, on v2', async () => {
  const cgroups = createCgroups(v2());
  await cgroups.create('/product');
  writeFileSync(join(root, 'product/cpu.stat'), 'usage_usec 1500\nuser_usec 1000\n');
  writeFileSync(join(root, 'product/memory.current'), '1000\n');
  writeFileSync(join(root, 'product/memory.stat'), 'anon 600\ninactive_file 250\n');
  expect(await cgroups.stats('/product')).toEqual({ cpuNanoseconds: 1_500_000, memoryBytes: 750 });
});

test('stats are CPU time and working set, on v1', async () => {
  const cgroups = createCgroups(v1());
  await cgroups.create('/product');
  writeFileSync(join(root, 'cpuacct/product/cpuacct.usage'), '123\n');
  writeFileSync(join(root, 'memory/product/memory.usage_in_bytes'), '1000\n');
  writeFileSync(join(root, 'memory/product/memory.stat'), 'inactive_file 1\ntotal_inactive_file 200\n');
  expect(await cgroups.stats('/product')).toEqual({ cpuNanoseconds: 123, memoryBytes: 800 });
});

test.each([
  ['v1', v1, 'cpu/product', 'cpu.shares', '300'],
  ['v2', v2, 'product', 'cpu.weight', '12'],
] as const)(
  'giveWay lets the others go first, and afterwards gives the shares back, on %s',
  async (_version, layout, folder, file, shares) => {
    const cgroups = createCgroups(layout());
    await cgroups.create('/product', { cpuShares: 300 });
    expect(cgroups.giveWay('/product', true, 300)).toBe(true);
    expect(read(folder, 'cpu.idle').slice(0, 1)).toBe('1');
    writeFileSync(join(root, folder, file), '3');
    expect(cgroups.giveWay('/product', false, 300)).toBe(true);
    expect([read(folder, 'cpu.idle'), read(folder, file).slice(0, shares.length)]).toEqual(['0', shares]);
  },
);

test('giveWay says where the kernel does not know it, and makes nothing of what is gone', async () => {
  const cgroups = createCgroups(v1());
  await cgroups.create('/product');
  writeFileSync(join(root, 'cpu/product/cpu.shares'), '300');
  expect(cgroups.giveWay('/product', true, 300)).toBe(false);
  expect(existsSync(join(root, 'cpu/product/cpu.idle'))).toBe(false);
  expect([cgroups.giveWay('/none', true, 300), cgroups.giveWay('/none', false, 300)]).toEqual([true, true]);
  expect(existsSync(join(root, 'cpu/none'))).toBe(false);
});

test('cpuNanoseconds are those of the cgroup, on v1 and on v2', () => {
  const [one, two] = [createCgroups(v1()), createCgroups(v2())];
  for (const folder of ['cpuacct/product', 'product']) mkdirSync(join(root, folder));
  writeFileSync(join(root, 'cpuacct/product/cpuacct.usage'), '1500000\n');
  writeFileSync(join(root, 'product/cpu.stat'), 'usage_usec 1500\nuser_usec 1000\n');
  expect([one, two].map((cgroups) => cgroups.cpuNanoseconds('/product'))).toEqual([1_500_000, 1_500_000]);
  expect([one, two].map((cgroups) => cgroups.cpuNanoseconds('/none'))).toEqual([undefined, undefined]);
});

test('oomKills counts the processes that were killed', async () => {
  const cgroups = createCgroups(v2());
  await cgroups.create('/product');
  writeFileSync(join(root, 'product/memory.events'), 'low 0\noom 4\noom_kill 2\noom_group_kill 0\n');
  expect(await cgroups.oomKills('/product')).toBe(2);
});

test('removeIfEmpty removes what is empty and leaves what is not', async () => {
  const cgroups = createCgroups(v1());
  for (const tree of ['cpu', 'memory']) mkdirSync(join(root, tree, 'product'));
  mkdirSync(join(root, 'memory/product/pod1'));
  await cgroups.removeIfEmpty('/product');
  expect(existsSync(join(root, 'cpu/product'))).toBe(false);
  expect(existsSync(join(root, 'memory/product/pod1'))).toBe(true);
});
