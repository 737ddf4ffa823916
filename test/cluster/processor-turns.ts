import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseCgroupLayout } from '../../src/engine/node/drivers/cgroups/cgroup-layout.ts';
import { cpuWeight } from '../../src/engine/node/drivers/cgroups/cgroup-limits.ts';

const layout = parseCgroupLayout(readFileSync('/proc/self/mountinfo', 'utf8'))!;
const tree = layout.controllers.get('cpu') ?? layout.trees[0];

/** What the kernel says of a cgroup: whether it gives way to others, and how many shares it has (as many as the version in use tells). */
export function turnsOf(cgroup: string): { givesWay: boolean; shares: number } {
  const read = (file: string) => Number(readFileSync(join(tree, cgroup, file), 'utf8'));
  return { givesWay: read('cpu.idle') === 1, shares: read(layout.version === 'v1' ? 'cpu.shares' : 'cpu.weight') };
}

/** Takes its turns as everybody, by its shares. */
export function equal(shares: number): { givesWay: boolean; shares: number } {
  return { givesWay: false, shares: layout.version === 'v1' ? shares : cpuWeight(shares) };
}
