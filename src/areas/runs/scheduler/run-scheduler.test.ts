import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Run, RunSpec, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { conflictError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { MetricsRegistry } from '../../../lib/metrics.ts';
import { holdsCapacity, phaseOf } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { afterLostAttempt, released, succeeded } from '../model/transitions.ts';
import { RunScheduler } from './run-scheduler.ts';
import { runSchedulerMetrics } from './run-scheduler-metrics.ts';

/** An API server in a few lines: Runs with versions, writes that conflict, events that come late. */
class World {
  readonly clock = new FakeClock();
  readonly runs = new Map<string, Run>();
  readonly events: (() => void)[] = [];
  readonly weights = new Map<string, number>();
  #version = 0;
  /** Delivers events at once; otherwise they wait for `deliver`. */
  prompt = true;
  writes = 0;
  readonly scheduler = this.newScheduler();

  newScheduler(): RunScheduler {
    return new RunScheduler({
      clock: this.clock,
      log: silentLog,
      metrics: runSchedulerMetrics(new MetricsRegistry()),
      tenantOf: (namespace) => ({ name: namespace, weight: this.weights.get(namespace) ?? 1 }),
      writeStatus: async (run, status) => {
        await Promise.resolve();
        this.writes++;
        this.setStatus(run, status);
      },
    });
  }

  setStatus(run: Run, status: RunStatus): void {
    const current = this.runs.get(run.metadata.uid!);
    if (current?.metadata.resourceVersion !== run.metadata.resourceVersion) {
      throw conflictError({ group: 'kruntimes.io', resource: 'runs' }, run.metadata.name!, 'changed');
    }
    this.store({ ...current!, status });
  }

  store(run: Run): Run {
    const stored = { ...run, metadata: { ...run.metadata, resourceVersion: String(++this.#version) } };
    this.runs.set(run.metadata.uid!, stored);
    this.tell(() => this.scheduler.setRun(stored));
    return stored;
  }

  tell(event: () => void): void {
    this.events.push(event);
    if (this.prompt) queueMicrotask(() => this.deliver());
  }

  deliver(count = Infinity): void {
    for (const event of this.events.splice(0, count)) event();
  }

  run(name: string, spec: Partial<RunSpec> = {}, namespace = 'default'): Run {
    const created = formatTime(new Date(this.clock.now()));
    return this.store({
      apiVersion: 'kruntimes.io/v1alpha1',
      kind: 'Run',
      metadata: { name, namespace, uid: `${namespace}/${name}`, creationTimestamp: created },
      spec: { runtime: 'bash', mode: { task: {} }, ...spec },
    });
  }

  pod(name: string, runs: number, namespace = 'default', uid = name): KubeObject {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, uid, labels: { runtime: 'bash' }, annotations: { 'kruntimes.io/capacity.runs': String(runs) } },
      status: {
        phase: 'Running',
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'kruntimes.io/RuntimedReady', status: 'True', lastProbeTime: formatTime(new Date(this.clock.now())) },
        ],
      },
    };
    this.tell(() => this.scheduler.setPod(pod));
    return pod;
  }

  finish(name: string, namespace = 'default'): void {
    const run = this.runs.get(`${namespace}/${name}`)!;
    this.setStatus(run, succeeded(run, {}, new Date(this.clock.now())));
  }

  phases(): Record<string, string> {
    return Object.fromEntries([...this.runs.values()].map((run) => [run.metadata.name!, phaseOf(run)]));
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 50; i++) await Promise.resolve();
  }
}

describe('RunScheduler', () => {
  it('places Runs up to the capacity of a Pod, the rest in the order they came', async () => {
    const world = new World();
    world.pod('p', 2);
    for (const name of ['a', 'b', 'c', 'd']) world.run(name);
    world.scheduler.start();
    await world.settle();
    expect(world.phases()).toEqual({ a: 'Scheduled', b: 'Scheduled', c: 'Pending', d: 'Pending' });
    world.finish('a');
    await world.settle();
    expect(world.phases()).toMatchObject({ c: 'Scheduled', d: 'Pending' });
    expect(world.writes).toBe(3);
  });

  it('a Run that came back from its Pod is placed again, also when only its last state is seen', async () => {
    const world = new World();
    world.pod('p', 1);
    world.run('a');
    world.scheduler.start();
    await world.settle();
    world.prompt = false;
    for (let round = 0; round < 2; round++) {
      await world.clock.advance(5000);
      world.pod('p', 1);
      world.events.pop()!();
      const placed = world.runs.get('default/a')!;
      expect(phaseOf(placed)).toBe('Scheduled');
      world.setStatus(placed, released(placed, { reason: 'Unclaimed', message: 'x' }, new Date(world.clock.now())));
      // The watch begins again: what was between is never seen.
      world.events.splice(0, world.events.length - 1);
      world.deliver();
      await world.settle();
    }
    expect(phaseOf(world.runs.get('default/a')!)).toBe('Scheduled');
  });

  it('a higher priority goes first', async () => {
    const world = new World();
    world.run('low');
    world.run('high', { priority: 5 });
    world.scheduler.start();
    world.pod('p', 1);
    await world.settle();
    expect(world.phases()).toEqual({ low: 'Pending', high: 'Scheduled' });
  });

  it('a flood of one namespace does not delay the first Run of another', async () => {
    const world = new World();
    world.prompt = false;
    for (let i = 0; i < 5000; i++) world.run(`flood-${i}`, {}, 'noisy');
    world.pod('p', 10_000, 'noisy');
    world.pod('q', 10, 'quiet');
    world.deliver();
    world.scheduler.start();
    world.run('first', {}, 'quiet');
    world.deliver();
    const before = world.writes;
    await world.settle();
    const [place] = [...world.runs.values()].filter((run) => run.metadata.name === 'first').map(phaseOf);
    expect(place).toBe('Scheduled');
    expect(before).toBeLessThan(130);
  });

  it('a Run is told that it waits only after a while, and once', async () => {
    const world = new World();
    world.run('a');
    world.scheduler.start();
    await world.settle();
    expect(world.writes).toBe(0);
    await world.clock.advance(2000);
    await world.settle();
    expect(world.runs.get('default/a')?.status).toEqual({
      phase: 'Pending',
      conditions: [],
      message: 'waiting for available runtime pods for runtime "bash"',
    });
    await world.clock.advance(60_000);
    expect(world.writes).toBe(1);
  });

  it('a Run cancelled while it waits ends as Cancelled; nonsense in its requests as Failed', async () => {
    const world = new World();
    world.run('cancelled', { cancelRequested: true });
    world.run('nonsense', { resources: { requests: { gpu: '0.5' } } });
    world.scheduler.start();
    await world.settle();
    expect(world.phases()).toEqual({ cancelled: 'Cancelled', nonsense: 'Failed' });
    expect(world.runs.get('default/nonsense')?.status).toMatchObject({ completionTime: '2026-01-01T00:00:00Z' });
  });

  it('a Run that wants what no Pod has lets others pass', async () => {
    const world = new World();
    world.run('gpu', { resources: { requests: { gpu: 1 } } });
    world.run('plain');
    world.pod('p', 4);
    world.scheduler.start();
    await world.settle();
    expect(world.phases()).toEqual({ gpu: 'Pending', plain: 'Scheduled' });
  });

  it('an attempt after a lost one waits for its back-off', async () => {
    const world = new World();
    world.pod('p', 1);
    world.run('a', { retryPolicy: { maxAttempts: 2, backoff: '5s' } });
    world.scheduler.start();
    await world.settle();
    const run = world.runs.get('default/a')!;
    world.setStatus(run, afterLostAttempt(run, { reason: 'PodGone', message: 'gone' }, new Date(world.clock.now())).status);
    await world.settle();
    expect(world.phases()).toEqual({ a: 'Pending' });
    await world.clock.advance(5000);
    await world.settle();
    expect(world.phases()).toEqual({ a: 'Scheduled' });
    expect(world.runs.get('default/a')?.status?.attempt).toBe(2);
  });

  it('a decision that lost a race is made again on what won', async () => {
    const world = new World();
    world.prompt = false;
    const run = world.run('a');
    world.pod('p', 1);
    world.deliver();
    world.scheduler.start();
    // The write is on its way; before it arrives somebody asks to cancel.
    world.store({ ...run, spec: { ...run.spec, cancelRequested: true } });
    await world.settle();
    expect(world.phases()).toEqual({ a: 'Pending' });
    world.deliver();
    await world.settle();
    expect(world.phases()).toEqual({ a: 'Cancelled' });
    world.run('b');
    world.deliver();
    await world.settle();
    expect(world.phases()).toMatchObject({ b: 'Scheduled' });
  });

  it('never gives a Pod more than it has, in whatever order things happen', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('create' as const), requests: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant('finish' as const), index: fc.nat(30) }),
      fc.record({ kind: fc.constant('lose' as const), index: fc.nat(30) }),
      fc.record({ kind: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant('touch' as const), index: fc.nat(30) }),
      fc.record({ kind: fc.constant('wait' as const) }),
      fc.record({ kind: fc.constant('restart' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const world = new World();
        world.prompt = false;
        const pods = [world.pod('p', 3), world.pod('q', 2)];
        world.deliver();
        world.scheduler.start();
        let created = 0;
        const pick = (index: number) => [...world.runs.values()][index % Math.max(1, world.runs.size)];
        for (const next of steps) {
          if (next.kind === 'create')
            world.run(`r${created++}`, {
              resources: { requests: { runs: next.requests } },
              retryPolicy: { maxAttempts: 3, backoff: '1s' },
            });
          const run = 'index' in next ? pick(next.index) : undefined;
          if (run !== undefined && next.kind === 'finish' && holdsCapacity(run))
            world.setStatus(run, succeeded(run, {}, new Date(world.clock.now())));
          if (run !== undefined && next.kind === 'lose' && holdsCapacity(run)) {
            world.setStatus(run, afterLostAttempt(run, { reason: 'PodUnhealthy', message: 'x' }, new Date(world.clock.now())).status);
          }
          if (run !== undefined && next.kind === 'touch')
            world.store({ ...run, metadata: { ...run.metadata, labels: { touched: String(created) } } });
          if (next.kind === 'deliver') world.deliver(next.count);
          if (next.kind === 'wait') await world.clock.advance(700);
          if (next.kind === 'restart') {
            // What the one before wrote is in the list that the next begins with.
            world.scheduler.stop();
            await world.settle();
            world.events.splice(0);
            Object.assign(world, { scheduler: world.newScheduler() });
            for (const pod of pods) world.scheduler.setPod(pod);
            for (const stored of world.runs.values()) world.scheduler.setRun(stored);
            world.scheduler.start();
          }
          await world.settle();
          for (const pod of pods) {
            const used = [...world.runs.values()]
              .filter((candidate) => holdsCapacity(candidate) && candidate.status?.assignedPod === pod.metadata.name)
              .reduce((sum, candidate) => sum + Number(candidate.spec.resources?.requests?.['runs']), 0);
            expect(used).toBeLessThanOrEqual(Number(pod.metadata.annotations!['kruntimes.io/capacity.runs']));
          }
        }
        world.scheduler.stop();
      }),
      { numRuns: 300 },
    );
  });

  it('whatever happened, in the end no Run waits beside a free place', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(5), fc.boolean()), { minLength: 1, maxLength: 40 }), async (steps) => {
        const world = new World();
        world.prompt = false;
        world.pod('p', 2);
        world.deliver();
        world.scheduler.start();
        let created = 0;
        for (const [choice, deliver] of steps) {
          if (choice < 3) world.run(`r${created++}`);
          const holding = [...world.runs.values()].find(holdsCapacity);
          if (choice === 4 && holding !== undefined) world.setStatus(holding, succeeded(holding, {}, new Date(world.clock.now())));
          if (deliver) world.deliver(1);
          await world.settle();
        }
        for (let i = 0; i < 4; i++) {
          world.deliver();
          await world.settle();
          await world.clock.advance(600);
        }
        const all = [...world.runs.values()];
        const holding = all.filter(holdsCapacity).length;
        const waiting = all.filter((run) => phaseOf(run) === 'Pending').length;
        expect(holding === 2 || waiting === 0).toBe(true);
        world.scheduler.stop();
      }),
      { numRuns: 200 },
    );
  });
});
