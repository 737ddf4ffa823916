import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { hostname, release } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/areas/clusters/machines/host/backend.ts';
import type { HostMachines } from '../../../src/areas/clusters/machines/host/host-machines.ts';
import type { MachineFolders } from '../../../src/areas/clusters/machines/host/machine-folders.ts';
import type { WantedMachine } from '../../../src/areas/clusters/machines/machines.ts';
import { processTable } from '../../../src/lib/process-table.ts';
import { lastDescendant } from '../../support/enclosed-process.ts';
import { GuestWorld, type Facts } from './guest-world.ts';

export interface MachinesUnderTest {
  provider: string;
  backend(folders: MachineFolders): Backend | Promise<Backend>;
  /** What a guest that panics says; absent: root in it cannot make it panic. */
  panic?: RegExp;
  /** It is where nothing else of the host is, and somebody who is not in there looks after it. */
  isEnclosed?: boolean;
  /** Its kernel is a program of the host, which opens files there when root in the guest wants it (hostfs). */
  readsItsHost?: boolean;
  /** What the probe may say on machines that cannot do this; then there is nothing more to see. */
  mayBeUnable?: RegExp;
}

const PROBED = 'are had when a guest was seen to boot, and else a reason is told';

/** What every provider of machines on this host promises. The guests are shared by the tests, which go on where the one before ended. */
export function machinesSuite({ provider, backend, panic, isEnclosed, readsItsHost, mayBeUnable }: MachinesUnderTest): void {
  describe(`machines of ${provider}`, { timeout: 240_000 }, () => {
    let world: GuestWorld;
    let machines: HostMachines;
    let a: WantedMachine;
    let b: WantedMachine;
    let unable: string | undefined;
    let clockOfB: { guest: number; host: number };
    const saying = (id: string) => async (error: Error) => {
      throw new Error(`${error.message}; it says: ${(await machines.console(id)).slice(-1000)}`, { cause: error });
    };
    const inA = () => world.facts('a').catch(saying('guest-a'));
    const inB = () => world.facts('b').catch(saying('guest-b'));
    const recordOf = async (id: string) => (await world.folders.record(id))!;

    beforeAll(async () => {
      world = await GuestWorld.start();
      machines = world.machines(await backend(world.folders));
      unable = await machines.unable();
    }, 240_000);

    beforeEach(({ skip, task }) => {
      if (unable !== undefined && mayBeUnable !== undefined && task.name !== PROBED) skip(unable);
    });

    afterAll(async () => {
      for (const { id } of (await machines?.list()) ?? []) await machines.remove(id);
      await machines?.close();
      await world?.close();
    }, 60_000);

    it(PROBED, async () => {
      if (unable !== undefined) expect(unable).toMatch(mayBeUnable ?? /^$/);
      // What a guest has shown is not tried again, by nobody on this machine.
      const again = world.machines(await backend(world.folders));
      const since = performance.now();
      expect(await again.unable()).toBe(unable);
      expect(performance.now() - since).toBeLessThan(2000);
      await again.close();
    });

    it('run with the same address in the networks of two tenants, each reached in its own only', async () => {
      [a, b] = [await world.wanted(machines, 'guest-a', 'a'), await world.wanted(machines, 'guest-b', 'b')];
      await Promise.all([machines.run(a), machines.run(b)]);
      const [first, second] = await Promise.all([inA(), inB()]);
      expect([first.hostname, second.hostname]).toEqual(['worker-guest-a', 'worker-guest-b']);
      clockOfB = { guest: second.time, host: Date.now() };
    });

    it('have a kernel, processes and files that are not the host’s', async () => {
      const [first, second] = [await inA(), await inB()];
      const host = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      expect(first.version).not.toBe(readFileSync('/proc/version', 'utf8').trim());
      expect(first.release).not.toBe(release());
      expect(new Set([host, first.bootId, second.bootId]).size).toBe(3);
      expect(first.hostname).not.toBe(hostname());
      const ours = readFileSync(`/proc/${process.pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      expect(first.processes).not.toContain(ours);
      expect(first.processes.some((line) => line.includes('vitest'))).toBe(false);
      expect(await world.ask('a', `/file?path=${world.root}`)).toEqual({ exists: false });
      expect(await world.ask('a', `/file?path=${process.cwd()}`)).toEqual({ exists: false });
      expect(first.imageIsWritable).toBe(false);
    });

    it('get their own settings, which nobody else can read', async () => {
      const first = await inA();
      expect(first.join).toEqual({ ...a.join, name: a.name, address: '10.0.1.20', settings: a.settings });
      expect(first.resolver).toBe('nameserver 10.0.1.1');
      const records = await Promise.all(['guest-a', 'guest-b'].map(recordOf));
      expect(records[0].user).not.toBe(records[1].user);
      for (const { id } of records) {
        expect(statSync(world.folders.folder(id)).mode & 0o077).toBe(0);
        // Not on a command line either, which everybody on the host can read.
        expect(commandLines().some((line) => line.includes(`token-of-${id}`))).toBe(false);
      }
    });

    it('run without the rights of root on the host', async () => {
      const { process: its } = await recordOf('guest-a');
      expect(userOf(isEnclosed ? lastDescendant(its!.pid) : its!.pid)).not.toBe('0');
    });

    it.runIf(readsItsHost)('show nothing of the host to root in a guest, by hostfs', async () => {
      const seen = await world.ask<Record<string, string | string[] | boolean>>('a', `/outside?path=${world.root}`);
      expect(seen).toMatchObject({ mounted: 'yes', exists: false });
      const folders = ['dev', 'images', 'lib', 'lib64', 'machines', 'proc', 'usr'];
      expect((seen!['folders'] as string[]).filter((name) => !folders.includes(name))).toEqual([]);
      expect((seen!['processes'] as string[]).filter((name) => !/^(bwrap|linux)/.test(name))).toEqual([]);
    });

    it('are not started twice', async () => {
      const { process: before } = await recordOf('guest-a');
      await machines.run(a);
      expect((await recordOf('guest-a')).process).toEqual(before);
    });

    it('are told of when they are killed; the other goes on; started again, they have their disk', async () => {
      await world.ask('a', '/note?text=mine');
      const before = await inB();
      const ended = endOf('guest-a');
      process.kill((await recordOf('guest-a')).process!.pid, 'SIGKILL');
      await ended;
      expect(await machines.list()).toContainEqual({ id: 'guest-a', cluster: 'cluster-a', isRunning: false });
      await machines.run(a);
      expect((await inA()).note).toBe('mine');
      const after = await inB();
      expect([after.bootId, after.note]).toEqual([before.bootId, 'ENOENT']);
    });

    it.runIf(panic)('are told of when their kernel crashes, with what it said', async () => {
      const ended = endOf('guest-a');
      void world.ask('a', '/crash');
      await ended;
      expect(await machines.console('guest-a')).toMatch(panic!);
      expect((await inB()).hostname).toBe('worker-guest-b');
    });

    it('know what time it is, and have clocks that run at the speed of the host’s', async () => {
      // Since the first test, over which the other guest was started again: a clock at another speed is right for a moment only.
      const { time } = await inB();
      const now = Date.now();
      const elapsed = now - clockOfB.host;
      expect(Math.abs(time - now)).toBeLessThan(10_000);
      expect(Math.abs(time - clockOfB.guest - elapsed)).toBeLessThan(Math.max(3000, elapsed * 0.25));
    });

    it('run on while nobody looks, and are found again', async () => {
      const before = await inB();
      await machines.close();
      machines = world.machines(await backend(world.folders));
      expect(await machines.list()).toContainEqual({ id: 'guest-b', cluster: 'cluster-b', isRunning: true });
      await machines.run(b);
      expect((await inB()).bootId).toBe(before.bootId);
      const ended = endOf('guest-b');
      process.kill((await recordOf('guest-b')).process!.pid, 'SIGKILL');
      await ended;
    });

    it('leave nothing when they are removed, and the next one finds nothing of them', async () => {
      for (const id of ['guest-a', 'guest-b']) {
        const { process: its } = await recordOf(id);
        await machines.remove(id);
        await world.forget(id);
        expect(its && processTable.isAlive(its)).toBe(false);
        expect(existsSync(world.folders.folder(id))).toBe(false);
        expect(readdirSync('/run/netns')).not.toContain(world.folders.namespace(id));
      }
      expect(await machines.list()).toEqual([]);
      expect(readdirSync(join(world.folders.root, 'records'))).toEqual([]);
      expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(world.root);
      await machines.run(await world.wanted(machines, 'guest-c', 'a'));
      const facts: Facts = await inA();
      expect([facts.hostname, facts.note]).toEqual(['worker-guest-c', 'ENOENT']);
      await machines.stop('guest-c');
      expect(await machines.list()).toEqual([{ id: 'guest-c', cluster: 'cluster-a', isRunning: false }]);
    });

    async function endOf(id: string): Promise<void> {
      await new Promise<void>((resolve, reject) => {
        const patience = setTimeout(() => reject(new Error(`nobody tells that ${id} has ended`)), 60_000);
        const stop = machines.onEnd((ended) => {
          if (ended !== id) return;
          stop();
          clearTimeout(patience);
          resolve();
        });
      });
    }
  });
}

function userOf(pid: number): string | undefined {
  return /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
}

function commandLines(): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : [];
    } catch {
      return [];
    }
  });
}
