import { expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { NOT_LISTENING } from './api-probe.ts';
import { ReplicaWatch } from './watch-replicas.ts';

it('ReplicaWatch tells how many are ready, cuts connections of one that is silent, and ends it when it stays so', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const status = [200, 200];
  const told: number[] = [];
  const ready = [false, false];
  let [cuts, ends] = [0, 0];
  const watch = new ReplicaWatch({
    probes: [0, 1].map((replica) => ({ readiness: () => Promise.resolve(status[replica]) })),
    setReady: (replica, is) => void (ready[replica] = is),
    cut: () => cuts++,
    end: () => ends++,
    tell: (count) => told.push(count),
    clock,
  });
  watch.start();
  await clock.advance(5000);
  expect([told, ready]).toEqual([[2], [true, true]]);
  status[1] = 500;
  await clock.advance(60_000);
  expect([told, ready, cuts]).toEqual([[2, 1], [true, false], 0]);
  status[1] = 0;
  await clock.advance(15_000);
  expect([cuts > 0, ends]).toEqual([true, 0]);
  await clock.advance(16_000);
  expect(ends).toBe(1);
  // The one that is started in its place has the time that a start takes, and is ended again when it does not come to answer.
  await clock.advance(110_000);
  expect(ends).toBe(1);
  await clock.advance(15_000);
  expect(ends).toBe(2);
  watch.stop();
});

it('ReplicaWatch gives one that ended by itself the time that a start takes', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  let status = 200;
  let ends = 0;
  const watch = new ReplicaWatch({
    probes: [{ readiness: () => Promise.resolve(200) }, { readiness: () => Promise.resolve(status) }],
    setReady: () => {},
    cut: () => {},
    end: () => ends++,
    tell: () => {},
    clock,
  });
  watch.start();
  await clock.advance(5000);
  status = NOT_LISTENING;
  await clock.advance(110_000);
  expect(ends).toBe(0);
  await clock.advance(15_000);
  expect(ends).toBe(1);
  watch.stop();
});
