import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { nodeUser, until } from '../support/node-client.ts';
import { spawnEngine } from '../support/spawned-engine.ts';
import { nodeTools } from './node-tools.ts';

let folder: string;
beforeAll(() => nodeTools('runc', 'bwrap', 'nft', 'ip'));
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tenantry-change-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** On the whole machine: whichever driver started them. */
function processesOf(argument: string): number {
  const commandOf = (pid: string): string[] => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    } catch {
      return [];
    }
  };
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.map(commandOf).filter(([program, first]) => program === 'sleep' && first === argument).length;
}

test.each([
  ['oci', 'process'],
  ['process', 'oci'],
])('a Pod that runs by the driver %s does not run twice when the next start uses %s', async (first, second) => {
  const data = join(folder, 'data');
  const argument = String(100_000 + Math.floor(Math.random() * 800_000));
  const before = await spawnEngine(data, { args: ['--node', first] });
  const user = nodeUser(before.target.url, data);
  await user.createPod('web', { command: ['sleep', argument] }, { terminationGracePeriodSeconds: 1 });
  await until(
    () => user.pod('web'),
    (pod) => pod?.status?.phase === 'Running',
  );
  await user.close();
  await before.kill();
  expect(processesOf(argument)).toBe(1);

  const after = await spawnEngine(data, { args: ['--node', second] });
  const next = nodeUser(after.target.url, data);
  try {
    const pod = await until(
      () => next.pod('web'),
      (seen) => seen?.status?.containerStatuses?.[0]?.containerID?.endsWith('.1'),
    );
    expect(pod?.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, containerID: expect.stringMatching(`^${second}://`) });
    expect(processesOf(argument)).toBe(1);
  } finally {
    await next.close();
    await after.stop();
  }
  expect(processesOf(argument)).toBe(0);
});
