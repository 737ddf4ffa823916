import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import type { PodProcessors } from '../drivers/driver.ts';
import { GreedyPods } from './greedy-pods.ts';
import type { PodWorker } from './pod-worker.ts';
import { aContainer, aPod } from './testing/a-pod.ts';

interface APod {
  asks?: string;
  /** Of one processor. */
  uses: number;
  isEnding?: boolean;
  sandbox?: { addresses: string[]; hostname: string };
}

type Worker = Required<Omit<APod, 'asks' | 'sandbox'>> &
  Pick<PodWorker, 'uid' | 'pod' | 'cleared'> & { used: number; sandbox: APod['sandbox'] };

/** Two processors, of which nothing is idle unless told otherwise, and Pods that ask for and use so much of one. */
class Machine {
  readonly clock = new FakeClock();
  readonly pods = new Map<string, Worker>();
  readonly givesWay = new Map<string, boolean>();
  readonly shares = new Map<string, number | undefined>();
  readonly notes: string[] = [];
  reads = 0;
  writes = 0;
  idle = 0;
  knowsHow = true;
  failure: Error | undefined;
  #times = { idle: 0, total: 0 };
  readonly turns: PodProcessors = {
    used: (uid) => {
      this.reads++;
      return this.pods.get(uid)?.used;
    },
    giveWay: ({ pod, limits }, gives) => {
      if (this.failure) throw this.failure;
      if (!this.knowsHow) return false;
      this.writes++;
      this.givesWay.set(pod.uid, gives);
      this.shares.set(pod.uid, limits.cpuShares);
      return true;
    },
  };
  readonly log = { ...silentLog, debug: (message: string) => void this.notes.push(message) };
  readonly greedy = new GreedyPods({
    clock: this.clock,
    log: this.log,
    turns: this.turns,
    pods: () => this.pods.values(),
    times: () => {
      this.#times.idle += this.idle * 2;
      this.#times.total += 2;
      return { ...this.#times };
    },
  });

  add(uid: string, pod: APod): this {
    const resources = pod.asks === undefined ? {} : { requests: { cpu: pod.asks } };
    const object = aPod({ containers: [aContainer('c', { resources })] }, {}, { uid });
    this.pods.set(uid, { uid, pod: object, used: 0, isEnding: false, cleared: false, sandbox: { addresses: [], hostname: uid }, ...pod });
    return this;
  }

  async pass(seconds: number): Promise<void> {
    for (let step = 0; step < seconds * 10; step++) {
      for (const pod of this.pods.values()) pod.used += pod.uses * 100 * 1e6;
      await this.clock.advance(100);
    }
  }

  /** Those that give way now. */
  get waiting(): string[] {
    return [...this.givesWay].filter(([, gives]) => gives).map(([uid]) => uid);
  }
}

const started = (pods: Record<string, APod>): Machine => {
  const machine = new Machine();
  for (const [uid, pod] of Object.entries(pods)) machine.add(uid, pod);
  machine.greedy.start();
  return machine;
};

describe('GreedyPods', () => {
  it('lets those give way that use more than they asked for while processors are scarce, and nobody else', async () => {
    const machine = started({
      loud: { asks: '350m', uses: 1.2 },
      quiet: { asks: '350m', uses: 0.2 },
      within: { asks: '1', uses: 0.6 },
      unasked: { uses: 0.2 },
      resting: { uses: 0.01 },
    });
    await machine.pass(4);
    expect(machine.waiting).toEqual(['loud', 'unasked']);
  });

  it('does so within three seconds', async () => {
    const machine = started({ loud: { asks: '350m', uses: 1.2 } });
    await machine.pass(3);
    expect(machine.waiting).toEqual(['loud']);
  });

  it('lets one that falls well below what it asked for be equal again, with its shares', async () => {
    const machine = started({ loud: { asks: '500m', uses: 1.2 } });
    await machine.pass(4);
    machine.pods.get('loud')!.uses = 0.3;
    await machine.pass(4);
    expect([machine.waiting, machine.shares.get('loud')]).toEqual([[], 512]);
  });

  it('is not moved by moments of one that uses what it asked for and more', async () => {
    const machine = started({ loud: { asks: '350m', uses: 0.6 } });
    await machine.pass(5);
    for (let round = 0; round < 10; round++) {
      for (const [uses, seconds] of [
        [0.38, 2],
        [0.2, 0.5],
      ]) {
        machine.pods.get('loud')!.uses = uses;
        await machine.pass(seconds);
      }
    }
    expect([machine.waiting, machine.writes]).toEqual([['loud'], 1]);
  });

  it('is not moved by a moment', async () => {
    const machine = started({ starting: { asks: '500m', uses: 0.1 } });
    await machine.pass(2);
    machine.pods.get('starting')!.uses = 0.9;
    await machine.pass(0.5);
    machine.pods.get('starting')!.uses = 0.1;
    await machine.pass(2);
    expect(machine.writes).toBe(0);
  });

  it('does not even look at Pods while there is enough for all', async () => {
    const machine = started({ loud: { uses: 1 } });
    machine.idle = 0.5;
    await machine.pass(5);
    expect([machine.reads, machine.writes]).toEqual([0, 0]);
  });

  it('makes all equal again when there is enough for all, not in a short gap', async () => {
    const machine = started({ loud: { uses: 1 } });
    await machine.pass(3);
    machine.idle = 0.5;
    await machine.pass(1);
    expect(machine.waiting).toEqual(['loud']);
    await machine.pass(1);
    expect(machine.waiting).toEqual([]);
    const { reads } = machine;
    await machine.pass(5);
    expect(machine.reads).toBe(reads);
  });

  it('writes only what changes', async () => {
    const machine = started({ loud: { uses: 1 }, quiet: { uses: 0.01 } });
    await machine.pass(20);
    expect(machine.writes).toBe(1);
  });

  it('leaves Pods alone whose sandbox is not there yet, and forgets those that are gone', async () => {
    const machine = started({ loud: { uses: 1 }, coming: { uses: 1 } });
    machine.pods.get('coming')!.sandbox = undefined;
    await machine.pass(3);
    machine.pods.delete('loud');
    machine.idle = 1;
    await machine.pass(3);
    expect(machine.writes).toBe(1);
    expect(machine.waiting).toEqual(['loud']);
  });

  it('goes on when one cannot be changed, and tries again', async () => {
    const machine = started({ loud: { uses: 1 }, louder: { uses: 1 } });
    machine.failure = new Error('too many open files');
    await machine.pass(3);
    expect(machine.waiting).toEqual([]);
    machine.failure = undefined;
    await machine.pass(1);
    expect(machine.waiting).toEqual(['loud', 'louder']);
  });

  it('makes all equal again when it stops', async () => {
    const machine = started({ loud: { uses: 1 } });
    await machine.pass(3);
    machine.greedy.stop();
    expect(machine.waiting).toEqual([]);
    const { reads } = machine;
    await machine.pass(3);
    expect(machine.reads).toBe(reads);
  });

  it('frees a Pod from when it is ending, once, whatever it uses, and nobody else', async () => {
    const machine = started({ loud: { asks: '250m', uses: 1 }, louder: { uses: 1 }, quiet: { uses: 0.01 } });
    await machine.pass(3);
    for (const uid of ['loud', 'quiet']) machine.pods.get(uid)!.isEnding = true;
    await machine.pass(5);
    expect([machine.waiting, machine.shares.get('loud'), machine.writes]).toEqual([['louder'], 256, 3]);
  });

  it('tries again to free one that is ending when it could not', async () => {
    const machine = started({ loud: { uses: 1 } });
    await machine.pass(3);
    machine.pods.get('loud')!.isEnding = true;
    machine.failure = new Error('too many open files');
    await machine.pass(1);
    machine.failure = undefined;
    await machine.pass(1);
    expect(machine.waiting).toEqual([]);
  });

  it('frees Pods that are ending, which an agent before it made to give way, also those of which it learns later', async () => {
    const machine = started({
      ending: { uses: 0, asks: '250m', isEnding: true, sandbox: undefined },
      late: { uses: 0, sandbox: undefined },
      other: { uses: 0 },
    });
    expect([[...machine.givesWay], machine.shares.get('ending')]).toEqual([[['ending', false]], 256]);
    machine.pods.get('late')!.isEnding = true;
    await machine.pass(3);
    expect([machine.writes, machine.givesWay.get('late')]).toEqual([2, false]);
  });

  it('says once where the kernel cannot do it, and looks no more', async () => {
    const machine = started({ loud: { uses: 1 }, louder: { uses: 1 } });
    machine.knowsHow = false;
    await machine.pass(10);
    expect(machine.notes).toHaveLength(1);
    expect(machine.clock.pendingTimers).toBe(0);
  });

  it('says once where Pods have no cgroups, and does not look', async () => {
    const machine = new Machine();
    const { clock, log } = machine;
    const without = new GreedyPods({ clock, log, pods: () => [], turns: undefined, times: () => expect.unreachable() });
    without.start();
    await machine.pass(3);
    expect([machine.notes.length, machine.clock.pendingTimers]).toEqual([1, 0]);
    without.stop();
  });
});
