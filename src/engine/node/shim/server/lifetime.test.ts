import { describe, expect, it } from 'vitest';
import { FakeClock, settle } from '../../../../lib/clock-fake.ts';
import { Lifetime } from './lifetime.ts';

function lifetimeUnderTest() {
  const clock = new FakeClock();
  let running = 0;
  let finished = false;
  const lifetime = new Lifetime(clock, 30_000, () => running);
  void lifetime.finished.then(() => (finished = true));
  const setRunning = (count: number) => {
    running = count;
    lifetime.check();
  };
  const isFinished = async () => {
    await settle();
    return finished;
  };
  return { clock, lifetime, setRunning, isFinished };
}

describe('Lifetime', () => {
  it('finishes 30 seconds after the last client when nothing runs', async () => {
    const { clock, lifetime, isFinished } = lifetimeUnderTest();
    lifetime.clientCame();
    await clock.advance(100_000);
    lifetime.clientLeft();
    await clock.advance(29_999);
    expect(await isFinished()).toBe(false);
    await clock.advance(1);
    expect(await isFinished()).toBe(true);
  });

  it('does not finish while a program runs, however long nobody comes', async () => {
    const { clock, setRunning, isFinished } = lifetimeUnderTest();
    setRunning(1);
    await clock.advance(1_000_000);
    expect(await isFinished()).toBe(false);
    setRunning(0);
    await clock.advance(30_000);
    expect(await isFinished()).toBe(true);
  });

  it('counts anew when a client comes in between', async () => {
    const { clock, lifetime, isFinished } = lifetimeUnderTest();
    lifetime.check();
    await clock.advance(29_000);
    lifetime.clientCame();
    lifetime.clientLeft();
    await clock.advance(29_000);
    expect(await isFinished()).toBe(false);
  });

  it('does not wait when it was told not to, but for the last program and client', async () => {
    const { lifetime, setRunning, isFinished } = lifetimeUnderTest();
    lifetime.clientCame();
    setRunning(1);
    lifetime.finishWhenIdle();
    setRunning(0);
    expect(await isFinished()).toBe(false);
    lifetime.clientLeft();
    expect(await isFinished()).toBe(true);
  });
});
