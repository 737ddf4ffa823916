import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import type { ProgramName, ProgramSpec } from './model/program-plan.ts';
import { ProgramKeeper, type KeeperTrouble } from './program-keeper.ts';

const aProgram = (name: ProgramName, more: Partial<ProgramSpec> = {}): ProgramSpec => ({
  name,
  path: `/bin/${name}`,
  args: [],
  afterReady: false,
  readsKeysOnce: false,
  ...more,
});
const PROGRAMS = [
  aProgram('etcd'),
  aProgram('kube-apiserver', { afterSocket: 'etcd' }),
  aProgram('konnectivity-server', { readsKeysOnce: true }),
  aProgram('kube-scheduler', { afterReady: true }),
];

describe('ProgramKeeper', () => {
  let clock: FakeClock;
  let ready: boolean;
  let listening: boolean;
  /** What happened, in order. */
  let story: string[];
  let troubles: (KeeperTrouble | undefined)[];
  /** Ends the program of that name, with its last words. */
  let end: Record<string, (words: string) => void>;
  /** Those that do not end by being asked. */
  let stubborn: Set<string>;
  let keeper: ProgramKeeper;

  beforeEach(() => {
    clock = new FakeClock('2026-01-01T00:00:00Z');
    ready = false;
    listening = true;
    story = [];
    troubles = [];
    end = {};
    stubborn = new Set();
    keeper = new ProgramKeeper(PROGRAMS, {
      start({ name }) {
        story.push(`start ${name}`);
        const ended = new Promise<string>((resolve) => (end[name] = resolve));
        const signal = (what: string) => {
          story.push(`${what} ${name}`);
          if (what === 'SIGKILL' || !stubborn.has(name)) end[name](what);
        };
        return { ended, signal };
      },
      hasSocket: () => listening,
      isReady: () => Promise.resolve(ready),
      tell: (trouble) => troubles.push(trouble),
      clock,
    });
  });

  const started = async () => {
    const starting = keeper.start();
    ready = true;
    await clock.advance(25);
    await starting;
    story.length = 0;
  };

  it('starts what the API server needs with it, and the rest once it is ready', async () => {
    const starting = keeper.start();
    await clock.advance(1000);
    expect(story).toEqual(['start etcd', 'start konnectivity-server', 'start kube-apiserver']);
    ready = true;
    await clock.advance(25);
    await starting;
    expect(story.at(-1)).toBe('start kube-scheduler');
  });

  it('starts the API server when the store listens, or has had its time', async () => {
    listening = false;
    void keeper.start();
    await clock.advance(100);
    expect(story).not.toContain('start kube-apiserver');
    listening = true;
    await clock.advance(5);
    expect(story).toContain('start kube-apiserver');
  });

  it.each([
    ['bind: address already in use', 'EADDRINUSE'],
    ['write wal: no space left on device', 'ENOSPC'],
  ])('gives up a start when a program says "%s"', async (words, code) => {
    const starting = expect(keeper.start()).rejects.toMatchObject({ code });
    end['etcd'](words);
    await starting;
  });

  it('gives up a start when a program ends again and again, with its last words', async () => {
    const starting = expect(keeper.start()).rejects.toThrow('etcd ended: unknown flag');
    for (let round = 0; round < 5; round++) {
      end['etcd']('it ended with 1\nunknown flag');
      await clock.advance(5000);
    }
    await starting;
  });

  it('starts a program again that ends, later each time, and tells when all is well', async () => {
    await started();
    end['kube-scheduler']('it ended with 2\npanic');
    await clock.advance(0);
    expect(troubles).toEqual([{ message: 'kube-scheduler ended and is started again: panic', others: false }]);
    await clock.advance(100);
    expect(story).toEqual(['start kube-scheduler']);
    end['kube-scheduler']('panic');
    await clock.advance(100);
    expect(story).toEqual(['start kube-scheduler']);
    await clock.advance(100);
    expect(story).toEqual(['start kube-scheduler', 'start kube-scheduler']);
    await clock.advance(1000);
    expect(troubles.at(-1)).toBeUndefined();
  });

  it('tells a full disk as such', async () => {
    await started();
    end['etcd']('no space left on device');
    await clock.advance(0);
    expect(troubles).toEqual([{ diskFull: true }]);
  });

  it('stops the API server before the store, and does not wait long for one that does not end', async () => {
    await started();
    stubborn.add('kube-apiserver');
    const stopping = keeper.stop();
    await clock.advance(500);
    await stopping;
    expect(story).toEqual([
      'SIGKILL konnectivity-server',
      'SIGKILL kube-scheduler',
      'SIGTERM kube-apiserver',
      'SIGKILL kube-apiserver',
      'SIGTERM etcd',
    ]);
    expect(troubles).toEqual([]);
  });

  it('starts those again that read their certificates only once, and calls it no trouble', async () => {
    await started();
    await keeper.keysChanged();
    expect(story).toEqual(['SIGKILL konnectivity-server', 'start konnectivity-server']);
    expect(troubles).toEqual([]);
  });
});
