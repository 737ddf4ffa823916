import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { MemoryWatch } from './memory-watch.ts';

function watched(id: string, used: () => number | undefined) {
  const over: string[] = [];
  return { over, container: { id, memoryBytes: 100, usage: () => Promise.resolve(used()), over: async () => void over.push(id) } };
}

describe('MemoryWatch', () => {
  it('tells when a container uses more than it may, and not before', async () => {
    const clock = new FakeClock();
    const watch = new MemoryWatch(clock);
    let used = 100;
    const { over, container } = watched('a', () => used);
    watch.add(container);
    await clock.advance(10_000);
    expect(over).toEqual([]);
    used = 101;
    await clock.advance(2000);
    expect(over).toEqual(['a']);
  });

  it('goes on with the others when one cannot be read', async () => {
    const clock = new FakeClock();
    const watch = new MemoryWatch(clock);
    const broken = watched('broken', () => {
      throw new Error('gone');
    });
    const { over, container } = watched('b', () => 500);
    watch.add(broken.container);
    watch.add(container);
    await clock.advance(2000);
    expect(over).toEqual(['b']);
  });

  it('does nothing when there is nothing to watch', async () => {
    const clock = new FakeClock();
    const watch = new MemoryWatch(clock);
    const { container } = watched('a', () => 1);
    watch.add(container);
    watch.remove('a');
    expect(clock.pendingTimers).toBe(0);
  });
});
