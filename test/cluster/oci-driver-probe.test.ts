import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { machineCgroups, type Cgroups } from '../../src/engine/node/drivers/cgroups/cgroups.ts';
import { probeRuntimes, type ProbeResult } from '../../src/engine/node/drivers/oci/probe-runtimes.ts';
import { nodeTools, toolPath } from './node-tools.ts';

let cgroups: Cgroups;
let dir: string;
let programs: string;
beforeAll(async () => {
  await nodeTools('runc', 'crun');
  const found = await machineCgroups();
  if (!found.cgroups) throw new Error(`Cannot run containers: ${found.why}.`);
  cgroups = found.cgroups;
});
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tenantry-probe-'));
  programs = mkdtempSync(join(tmpdir(), 'tenantry-programs-'));
});
afterEach(() => {
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(dir);
  expect(existsSync(dir) ? readdirSync(dir).filter((name) => name !== 'runtime.json') : []).toEqual([]);
  for (const folder of [dir, programs]) rmSync(folder, { recursive: true });
});

function program(name: string, script: string): void {
  writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(programs, name), 0o755);
}

const probe = (options: Partial<Parameters<typeof probeRuntimes>[0]> = {}): Promise<ProbeResult> =>
  probeRuntimes({ dir, cgroups, path: programs, ...options });
const calls = (): number => readFileSync(join(programs, 'calls'), 'utf8').trim().split('\n').length;

test('probeRuntimes finds a runtime that really runs a container', async () => {
  const { runtime } = await probe();
  expect(runtime?.name).toMatch(/^(runc|crun)$/);
});

test('probeRuntimes finds it too when the data directory is reached by a link', async () => {
  symlinkSync(dir, join(programs, 'link'));
  const { runtime } = await probe({ dir: join(programs, 'link') });
  expect(runtime?.name).toMatch(/^(runc|crun)$/);
});

test('probeRuntimes takes runc and says why not crun, where controllers of cgroups are mounted both ways', async () => {
  const { runtime, tried } = await probe({ candidates: ['crun', 'runc'] });
  const hybrid = existsSync('/sys/fs/cgroup/unified');
  expect(runtime?.name).toBe(hybrid ? 'runc' : 'crun');
  if (hybrid) expect(tried).toEqual([{ name: 'crun', why: expect.stringContaining('cgroups in hybrid mode not supported') }]);
});

test('probeRuntimes remembers its answer, until the program is another', async () => {
  const script = `echo call >> ${join(programs, 'calls')}; exec ${toolPath('runc')} "$@"`;
  program('runc', script);
  const first = await probe();
  expect(first.runtime).toEqual({ name: 'runc', path: join(programs, 'runc') });
  const before = calls();
  expect(await probe()).toEqual(first);
  expect(calls()).toBe(before);
  program('runc', `${script} # changed`);
  await probe();
  expect(calls()).toBeGreaterThan(before);
});

test('probeRuntimes goes on to the next, when one fails or hangs, and says what happened', async () => {
  program('runc', '[ "$3" = run ] || exit 0; echo it is broken >&2; exit 1');
  program('crun', '[ "$3" = run ] || exit 0; exec sleep 1000');
  const { runtime, tried } = await probe({ timeoutMs: 500, candidates: ['runc', 'crun'] });
  expect(runtime).toBeUndefined();
  expect(tried).toEqual([
    { name: 'runc', why: 'it is broken' },
    { name: 'crun', why: expect.stringContaining('ended by SIGKILL') },
  ]);
});
