import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { MachineError } from '../machines.ts';
import { endMachine } from './end-machine.ts';

const IDENTITY = { pid: 4711, startTime: 'x', hostname: 'here' };

/** A process that ends on some signal, or on none. */
function aHost(endsOn?: NodeJS.Signals) {
  const clock = new FakeClock();
  const sent: [number, NodeJS.Signals, number][] = [];
  let alive = true;
  return {
    clock,
    sent,
    isAlive: () => alive,
    kill(target: number, signal: NodeJS.Signals) {
      sent.push([target, signal, clock.monotonic()]);
      if (signal === endsOn) alive = false;
    },
  };
}

describe('endMachine', () => {
  it('asks first, and kills what does not listen', async () => {
    const host = aHost('SIGKILL');
    const ended = endMachine(IDENTITY, host);
    await host.clock.advance(5000);
    await ended;
    expect(host.sent).toEqual([
      [-4711, 'SIGTERM', 0],
      [4711, 'SIGTERM', 0],
      [-4711, 'SIGKILL', 3000],
      [4711, 'SIGKILL', 3000],
    ]);
  });

  it('gives up with a reason when even that does not end it, so that others get their turn', async () => {
    const host = aHost();
    const ended = endMachine(IDENTITY, host).catch((error: unknown) => error);
    await host.clock.advance(13_000);
    const error = (await ended) as MachineError;
    expect(error).toBeInstanceOf(MachineError);
    expect(error.afterMs).toBeGreaterThan(0);
    expect(error.message).toMatch(/^Cannot end process "4711": it lives 10 seconds after SIGKILL/);
    expect(host.clock.pendingTimers).toBe(0);
  });

  it('leaves alone whoever has the number by now', async () => {
    const host = { ...aHost(), isAlive: () => false };
    await endMachine(IDENTITY, host);
    expect(host.sent).toEqual([]);
  });
});
