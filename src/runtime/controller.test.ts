import { expect, test } from 'vitest';
import { FakeClock } from '../lib/clock-fake.ts';
import { createLog, silentLog } from '../lib/log.ts';
import { conflictError } from '../kube/status.ts';
import { Controller, type ControllerOptions } from './controller.ts';

function makeController(
  reconcile: ControllerOptions['reconcile'],
  options: Partial<ControllerOptions> = {},
): { controller: Controller; clock: FakeClock } {
  const clock = new FakeClock();
  const backoff = { initialMs: 10, maxMs: 1000, jitter: 0 };
  const controller = new Controller({ name: 'test', clock, log: silentLog, backoff, reconcile, ...options });
  return { controller: controller.start(), clock };
}

test('a failing key is tried again with growing waits, and logged', async () => {
  const times: number[] = [];
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  const { controller, clock } = makeController(
    () => {
      times.push(clock.monotonic());
      return times.length < 4 ? Promise.reject(new Error('not yet')) : Promise.resolve();
    },
    { log },
  );
  controller.queue.add('a');
  await clock.advance(1000);
  expect(times).toEqual([0, 10, 30, 70]);
  expect(lines).toHaveLength(3);
  expect(JSON.parse(lines[0])).toMatchObject({ controller: 'test', key: 'a', error: 'not yet' });
});

test('a conflict is tried again and not logged', async () => {
  let runs = 0;
  const lines: string[] = [];
  const { controller, clock } = makeController(
    () => (runs++ === 0 ? Promise.reject(conflictError({ group: '', resource: 'x' }, 'a', 'stale')) : Promise.resolve()),
    { log: createLog({ write: (line) => lines.push(line) }) },
  );
  controller.queue.add('a');
  await clock.advance(100);
  expect(runs).toBe(2);
  expect(lines).toEqual([]);
});

test('afterMs comes again then, and success forgets failures', async () => {
  let runs = 0;
  const { controller, clock } = makeController(() => Promise.resolve(++runs === 1 ? { afterMs: 500 } : undefined));
  controller.queue.add('a');
  await clock.advance(499);
  expect(runs).toBe(1);
  await clock.advance(1);
  expect(runs).toBe(2);
});

test('no more keys are worked on at once than the concurrency says', async () => {
  let active = 0;
  let most = 0;
  const { controller, clock } = makeController(
    async () => {
      most = Math.max(most, ++active);
      await new Promise<void>((resolve) => void clock.setTimer(10, resolve));
      active--;
    },
    { concurrency: 3 },
  );
  for (let i = 0; i < 10; i++) controller.queue.add(`key-${i}`);
  await clock.advance(100);
  expect(most).toBe(3);
  expect(controller.queue.idle).toBe(true);
});

test('stop ends the reconciliation under way by its signal, waits for it, and takes no more keys', async () => {
  const finished: string[] = [];
  const { controller, clock } = makeController(async (key, { signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    finished.push(key);
  });
  controller.queue.add('a');
  controller.queue.add('b');
  await clock.advance(0);
  await controller.stop();
  expect(finished).toEqual(['a']);
});
