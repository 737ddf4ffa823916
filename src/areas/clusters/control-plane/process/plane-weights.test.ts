import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { PlaneWeights, weightOf } from './plane-weights.ts';

describe('weightOf', () => {
  it.each([
    { what: 'who does nothing', use: 0, weight: 1024 },
    { what: 'who uses a quarter of a processor', use: 0.25, weight: 1024 },
    { what: 'who uses half of one', use: 0.5, weight: 256 },
    { what: 'who uses all of one', use: 1, weight: 64 },
    { what: 'who uses many', use: 8, weight: 32 },
  ])('$what weighs $weight', ({ use, weight }) => expect(weightOf(use)).toBe(weight));
});

describe('PlaneWeights', () => {
  /** Two processors, of which so much is idle, and planes that use so much of one. */
  function aMachine(idle: number, uses: Record<string, number>) {
    const clock = new FakeClock();
    const started = clock.monotonic();
    const machine = { idle, uses, reads: 0, weights: new Map<string, number>() };
    const times = { idle: 0, total: 0 };
    const weights = new PlaneWeights({
      clock,
      processors() {
        times.idle += machine.idle * 2;
        times.total += 2;
        return { ...times };
      },
      used(id) {
        machine.reads++;
        if (!(id in machine.uses)) return Promise.reject(new Error('too many open files'));
        return Promise.resolve(machine.uses[id] * (clock.monotonic() - started) * 1e6);
      },
      weigh: (id, weight) => Promise.resolve(void machine.weights.set(id, weight)),
    });
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) await clock.advance(1000);
    };
    return { machine, weights, pass };
  }

  it('weighs less who uses much while processors are scarce, and others as before', async () => {
    const { machine, weights, pass } = aMachine(0, { loud: 1, quiet: 0.01 });
    weights.add('loud');
    weights.add('quiet');
    await pass(6);
    expect(machine.weights.get('loud')).toBeLessThanOrEqual(128);
    expect(machine.weights.has('quiet')).toBe(false);
  });

  it('does not even look at planes while there is enough for all, and gives back what was taken', async () => {
    const { machine, weights, pass } = aMachine(0, { loud: 1 });
    weights.add('loud');
    await pass(6);
    machine.idle = 0.5;
    await pass(1);
    expect(machine.weights.get('loud')).toBe(1024);
    const { reads } = machine;
    await pass(5);
    expect(machine.reads).toBe(reads);
  });

  it('goes on with the others when one cannot be looked at', async () => {
    const { machine, weights, pass } = aMachine(0, { loud: 1 });
    weights.add('unreadable');
    weights.add('loud');
    await pass(6);
    expect([...machine.weights.keys()]).toEqual(['loud']);
  });

  it('leaves a plane alone that is gone, and one that is not there', async () => {
    const { machine, weights, pass } = aMachine(0, { loud: 1 });
    weights.add('loud');
    weights.remove('loud');
    await pass(5);
    expect([machine.reads, machine.weights.size]).toEqual([0, 0]);
  });
});
