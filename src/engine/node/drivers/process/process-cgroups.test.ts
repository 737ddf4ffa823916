import { describe, expect, it } from 'vitest';
import { joinFiles } from './process-cgroups.ts';

describe('joinFiles', () => {
  it('is one file where there is one tree', () => {
    const layout = { version: 'v2' as const, controllers: new Map([['unified', '/sys/fs/cgroup']]), trees: ['/sys/fs/cgroup'] };
    expect(joinFiles(layout, '/t/pod1/c')).toEqual(['/sys/fs/cgroup/t/pod1/c/cgroup.procs']);
  });

  it('is one per tree that limits or counts where there are several, and trees that are one are one', () => {
    const controllers = new Map([
      ['cpu', '/cg/cpu,cpuacct'],
      ['cpuacct', '/cg/cpu,cpuacct'],
      ['memory', '/cg/memory'],
      ['cpuset', '/cg/cpuset'],
    ]);
    const layout = { version: 'v1' as const, controllers, trees: ['/cg/cpu,cpuacct', '/cg/memory', '/cg/cpuset'] };
    expect(joinFiles(layout, '/t/c')).toEqual(['/cg/cpu,cpuacct/t/c/cgroup.procs', '/cg/memory/t/c/cgroup.procs']);
  });

  it('is nothing without cgroups', () => {
    expect(joinFiles(undefined, '/t/c')).toEqual([]);
  });
});
