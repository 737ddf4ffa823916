import { describe, expect, it } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { beat } from './heartbeat.ts';

function aHeart(isReady: (ms: number) => { ready: boolean; message: string }) {
  const clock = new FakeClock();
  const written: string[] = [];
  const patch = (_name: string, { patch: { status } }: { patch: { status: { conditions: { status: string; reason: string }[] } } }) => {
    const [condition] = status.conditions;
    written.push(`${clock.monotonic()} ${condition.status} ${condition.reason}`);
    return Promise.resolve({});
  };
  const client = { resource: () => ({ status: { patch } }) } as unknown as Client;
  const stop = new AbortController();
  const options = { client, namespace: 'n', pod: 'p', isReady: () => Promise.resolve(isReady(clock.monotonic())), clock, log: silentLog };
  const beating = beat(options, stop.signal);
  return { clock, written, stop: () => (stop.abort(), beating) };
}

describe('the heartbeat of runtimed', () => {
  it('comes every five seconds', async () => {
    const { clock, written, stop } = aHeart(() => ({ ready: true, message: 'ok' }));
    await clock.advance(11_000);
    expect(written).toEqual(['0 True Heartbeat', '5000 True Heartbeat', '10000 True Heartbeat']);
    await stop();
  });

  it('tells soon that Runs are taken, where they were not at first', async () => {
    const { clock, written, stop } = aHeart((ms) => ({ ready: ms >= 1000, message: ms >= 1000 ? 'ok' : 'no answer' }));
    await clock.advance(2000);
    expect(written).toEqual(['0 False RuntimeUnhealthy', '1500 True Heartbeat']);
    await stop();
  });

  it('does not hurry for what does not come', async () => {
    const { clock, written, stop } = aHeart(() => ({ ready: false, message: 'interpreter not found: python3' }));
    await clock.advance(60_000);
    expect(written[0]).toBe('0 False InterpreterMissing');
    expect(written.length).toBeLessThanOrEqual(13);
    await stop();
  });
});
