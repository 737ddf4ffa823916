import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Cgroups } from '../cgroups/cgroups.ts';
import { probeRuntimes } from './probe-runtimes.ts';

const CGROUPS = { version: 'v2' } as Cgroups;

test.runIf(process.platform === 'linux')('probeRuntimes says that it needs root, for a plain user', async () => {
  const { runtime, tried } = await probeRuntimes({ dir: '/nowhere', cgroups: CGROUPS, userId: 1000 });
  expect(runtime).toBeUndefined();
  expect(tried.map(({ name }) => name)).toEqual(['runc', 'crun', 'runsc']);
  expect(tried[0].why).toContain('need root');
});

test.runIf(process.platform === 'linux')(
  'probeRuntimes says what is wrong with cgroups, when there are none to hold a container',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'probe-'));
    const { tried } = await probeRuntimes({
      dir,
      cgroups: undefined,
      cgroupsMissing: 'the machine lacks the cgroup controllers pids',
      userId: 0,
    });
    expect(tried[0].why).toBe('the machine lacks the cgroup controllers pids');
    rmSync(dir, { recursive: true });
  },
);
