import { describe, expect, test } from 'vitest';
import type { PodStatus } from '../../../kube/generated/core-v1.ts';
import type { Json } from '../../../kube/object.ts';
import { conflictError, notFoundError } from '../../../kube/status.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import type { PodObject } from './model/pod-object.ts';
import { StatusWriter } from './status-writer.ts';
import { aPod } from './testing/a-pod.ts';

function aWriter() {
  const clock = new FakeClock();
  const writes: Json[] = [];
  const world = {
    wanted: { phase: 'Pending' } as PodStatus,
    /** Called for each write; its promise is the server's answer. */
    answer: (pod: PodObject, status: Json): Promise<PodObject> => {
      const version = String(Number(pod.metadata.resourceVersion) + 1);
      return Promise.resolve({ ...pod, metadata: { ...pod.metadata, resourceVersion: version }, status: { ...pod.status, ...status } });
    },
  };
  const writer = new StatusWriter({
    pod: aPod(),
    clock,
    log: silentLog,
    compute: () => ({ ...world.wanted, qosClass: 'BestEffort' }),
    patch: (pod, status) => {
      writes.push(status);
      return world.answer(pod, status);
    },
  });
  return { clock, writes, world, writer };
}

describe('StatusWriter', () => {
  test('writes what changed, and only that', async () => {
    const { clock, writes, world, writer } = aWriter();
    world.wanted = { phase: 'Running', podIP: '10.0.0.1' };
    writer.changed(true);
    await clock.advance(0);
    expect(writes).toEqual([{ phase: 'Running', podIP: '10.0.0.1' }]);
    writer.changed(true);
    await clock.advance(0);
    expect(writes).toHaveLength(1);
  });

  test('waits with what is not urgent for what comes next', async () => {
    const { clock, writes, world, writer } = aWriter();
    world.wanted = { phase: 'Pending', reason: 'Starting' };
    writer.changed(false);
    await clock.advance(300);
    expect(writes).toEqual([]);
    world.wanted = { phase: 'Running' };
    writer.changed(true);
    await clock.advance(1000);
    expect(writes).toEqual([{ phase: 'Running' }]);
  });

  test('says what is not urgent after a moment', async () => {
    const { clock, writes, world, writer } = aWriter();
    world.wanted = { phase: 'Pending', reason: 'Starting' };
    writer.changed(false);
    await clock.advance(400);
    expect(writes).toEqual([{ reason: 'Starting' }]);
  });

  test('gathers what changes while a write is under way', async () => {
    const { clock, writes, world, writer } = aWriter();
    const { answer } = world;
    let arrive = () => {};
    world.answer = async (pod, status) => {
      await new Promise<void>((resolve) => (arrive = resolve));
      return answer(pod, status);
    };
    for (const message of ['one', 'two', 'three']) {
      world.wanted = { phase: 'Pending', message };
      writer.changed(true);
      await clock.advance(0);
    }
    expect(writes).toEqual([{ message: 'one' }]);
    world.answer = answer;
    arrive();
    await clock.advance(0);
    expect(writes).toEqual([{ message: 'one' }, { message: 'three' }]);
  });

  test('tries again when the server does not answer', async () => {
    const { clock, writes, world, writer } = aWriter();
    const { answer } = world;
    world.answer = () => Promise.reject(new Error('connection refused'));
    world.wanted = { phase: 'Running' };
    writer.changed(true);
    await clock.advance(50);
    expect(writes).toHaveLength(1);
    world.answer = answer;
    await clock.advance(1000);
    expect(writes).toHaveLength(2);
    expect(writer.pod.status?.phase).toBe('Running');
  });

  test.each([
    ['is gone', notFoundError({ group: '', resource: 'pods' }, 'web')],
    ['is another', conflictError({ group: '', resource: 'pods' }, 'web', 'uid')],
  ])('gives up when the Pod %s', async (_name, error) => {
    const { clock, writes, world, writer } = aWriter();
    world.answer = () => Promise.reject(error);
    world.wanted = { phase: 'Running' };
    writer.changed(true);
    await clock.advance(60_000);
    expect(writes).toHaveLength(1);
  });

  test('corrects what others made of it', async () => {
    const { clock, writes, world, writer } = aWriter();
    world.wanted = { phase: 'Running' };
    writer.changed(true);
    await clock.advance(0);
    const changed = aPod({}, { phase: 'Pending' }, { resourceVersion: '9' });
    expect(writer.observe(changed)).toBe(true);
    writer.changed(true);
    await clock.advance(0);
    expect(writes).toEqual([{ phase: 'Running' }, { phase: 'Running' }]);
  });

  test('does not fall for old news', async () => {
    const { clock, writes, world, writer } = aWriter();
    world.wanted = { phase: 'Running' };
    writer.changed(true);
    await clock.advance(0);
    expect(writer.observe(aPod({}, { phase: 'Pending' }, { resourceVersion: '1' }))).toBe(false);
    writer.changed(true);
    await clock.advance(0);
    expect(writes).toHaveLength(1);
  });
});
