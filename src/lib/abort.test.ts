import { expect, test } from 'vitest';
import { linkSignals, orAborted, sleep, timeoutSignal } from './abort.ts';
import { FakeClock } from './clock-fake.ts';

test('sleep resolves when the clock reaches it', async () => {
  const clock = new FakeClock();
  let done = false;
  const sleeping = sleep(clock, 100).then(() => (done = true));
  await clock.advance(99);
  expect(done).toBe(false);
  await clock.advance(1);
  await sleeping;
});

test('sleep rejects and cancels its timer when the signal fires', async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const sleeping = sleep(clock, 100, controller.signal);
  controller.abort(new Error('stop'));
  await expect(sleeping).rejects.toThrow('stop');
  expect(clock.pendingTimers).toBe(0);
  await expect(sleep(clock, 1, controller.signal)).rejects.toThrow('stop');
});

test('linkSignals fires with the reason of the parent that fired, and not after dispose', () => {
  const [a, b] = [new AbortController(), new AbortController()];
  const linked = linkSignals(a.signal, undefined, b.signal);
  b.abort('b');
  expect(linked.signal.reason).toBe('b');

  const disposed = linkSignals(a.signal);
  disposed.dispose();
  a.abort();
  expect(disposed.signal.aborted).toBe(false);
  expect(linkSignals(a.signal).signal.aborted).toBe(true);
});

test('timeoutSignal fires a TimeoutError on the clock unless it was disposed', async () => {
  const clock = new FakeClock();
  const timeout = timeoutSignal(clock, 50);
  await clock.advance(50);
  expect(timeout.signal.reason.name).toBe('TimeoutError');

  const disposed = timeoutSignal(clock, 50);
  disposed.dispose();
  expect(clock.pendingTimers).toBe(0);
});

test('orAborted gives up waiting when the signal fires', async () => {
  const controller = new AbortController();
  const waiting = orAborted(new Promise(() => {}), controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(orAborted(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1);
});
