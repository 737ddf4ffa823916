import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../files/node-file-system.ts';
import { acquireLock } from './lock.ts';
import { type ProcessIdentity, type ProcessTable, processTable } from '../../../lib/process-table.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tenantry-lock-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

/** A machine where `alive` lists what runs. */
function machine(pid: number, alive: ProcessIdentity[] = [], hostname = 'here'): ProcessTable {
  const self = { pid, startTime: `start-${pid}`, hostname };
  return { self, isAlive: (other) => alive.some(({ pid, startTime }) => pid === other.pid && startTime === other.startTime) };
}

const acquire = (processes: ProcessTable, address?: string) =>
  acquireLock({ fileSystem: nodeFileSystem, directory, processes, address, now: () => 0, randomBytes });

describe('acquireLock', () => {
  it('a held lock is refused with Locked and says who holds it', async () => {
    const holder = machine(100);
    await acquire(holder, 'https://127.0.0.1:6443');
    await expect(acquire(machine(200, [holder.self]))).rejects.toMatchObject({
      code: 'Locked',
      message:
        `Cannot open the store in "${directory}": process 100 holds it since 1970-01-01T00:00:00.000Z, ` +
        'serving https://127.0.0.1:6443; use that one, stop it, or choose another directory',
    });
  });

  it('a released lock is free and leaves nothing behind', async () => {
    const release = await acquire(machine(100));
    await release();
    expect(await readdir(directory)).toEqual([]);
    await acquire(machine(200));
  });

  it.each<[string, () => ProcessTable]>([
    ['whose process is gone', () => machine(200)],
    ['whose pid another process has now', () => machine(200, [{ pid: 100, startTime: 'later', hostname: 'here' }])],
  ])('a lock %s is taken over', async (_which, next) => {
    await acquire(machine(100));
    const release = await acquire(next());
    expect(JSON.parse(await readFile(join(directory, 'lock'), 'utf8'))).toMatchObject({ pid: 200 });
    await release();
    expect(await readdir(directory)).toEqual([]);
  });

  it.each(['', 'garbage', '{}'])('a lock that a power cut left with the content %j is taken over', async (content) => {
    await writeFile(join(directory, 'lock'), content);
    await acquire(machine(200));
  });

  it('a lock of another host is refused and says how to remove it', async () => {
    await acquire(machine(100, [], 'elsewhere'));
    await expect(acquire(machine(200))).rejects.toThrow(
      `on host elsewhere holds it since 1970-01-01T00:00:00.000Z; stop it there, or remove`,
    );
  });

  it('a takeover that was killed halfway does not block the next one', async () => {
    await acquire(machine(100));
    await writeFile(join(directory, 'lock.takeover'), JSON.stringify(machine(150).self));
    await acquire(machine(200));
    expect(await readdir(directory)).toEqual(['lock']);
  });

  it('of many processes that find an abandoned lock at once, exactly one gets it', async () => {
    for (let round = 0; round < 20; round++) {
      await acquire(machine(100));
      const pids = Array.from({ length: 8 }, (_, n) => 200 + n);
      const alive = pids.map((pid) => machine(pid).self);
      const results = await Promise.allSettled(pids.map((pid) => acquire(machine(pid, alive))));
      const won = results.filter(({ status }) => status === 'fulfilled').length;
      expect(won).toBeLessThanOrEqual(1);
      // When two meet in the takeover both may give way; whoever comes next gets it.
      if (won === 0) await acquire(machine(300, []));
      await rm(join(directory, 'lock'));
    }
  });

  it('a release does not remove the lock of somebody else', async () => {
    const release = await acquire(machine(100));
    await acquire(machine(200));
    await release();
    expect(await readdir(directory)).toEqual(['lock']);
  });
});

describe('processTable', () => {
  it('isAlive knows this process, and not one with its pid and another start time', () => {
    const { self } = processTable;
    expect(processTable.isAlive(self)).toBe(true);
    expect(processTable.isAlive({ ...self, startTime: `${self.startTime}0` })).toBe(self.startTime === '');
  });

  it.runIf(process.platform === 'linux')('isAlive is false for a process that has ended and whose parent has not asked how', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [output] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(output.toString());
      const isZombie = (): boolean => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      while (!isZombie()) await setImmediate();
      expect(processTable.isAlive({ pid, startTime: '', hostname: '' })).toBe(false);
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('isAlive is false for a pid nobody has', () => {
    expect(processTable.isAlive({ pid: 2 ** 22 + 1, startTime: '', hostname: '' })).toBe(false);
  });
});
