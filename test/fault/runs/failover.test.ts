import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { RunKind } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { phaseOf } from '../../../src/api/kruntimes.io/v1alpha1/run-state.ts';
import { startRuns } from '../../../src/areas/runs/start-runs.ts';
import { createClient } from '../../../src/client/client.ts';
import { Lease } from '../../../src/client/kinds.ts';
import { aborted } from '../../../src/lib/abort.ts';
import { seededRandom, type Random } from '../../../src/lib/backoff.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { runAsLeader } from '../../../src/runtime/leader-election.ts';
import type { BreakableTransport } from './breakable-transport.ts';
import { BreakableRuns } from './breakable-runs.ts';
import { RunHistory } from './run-history.ts';

const RUNS = 120;
const PLACES = new Map([
  ['small', 2],
  ['large', 4],
]);
/** As short as the API can say it. */
const LEASE = { leaseDurationMs: 1000, renewDeadlineMs: 700, retryPeriodMs: 100 };

/** One process that stands for election and, when it leads, runs the whole area. */
class Candidate {
  readonly identity: string;
  readonly connection: BreakableTransport;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(world: BreakableRuns, identity: string) {
    this.identity = identity;
    this.connection = world.connection();
    this.#ended = this.#stand();
  }

  async #stand(): Promise<void> {
    const client = createClient(this.connection, { retry: { maxRetries: 0 } });
    const settings = { runtimedImage: 'example/runtimed', maintainerImage: 'example/maintainer' };
    const election = { client, log: silentLog, namespace: 'default', name: 'runs', identity: this.identity, ...LEASE };
    const lead = async (signal: AbortSignal) => {
      const running = startRuns({ client, clock: realClock, log: silentLog, metrics: new MetricsRegistry(), settings });
      await aborted(signal);
      await running.stop();
    };
    while (!this.#stop.signal.aborted) await runAsLeader(election, lead, this.#stop.signal).catch(() => {});
  }

  /** Without a word: the Lease stays as it is. */
  async kill(): Promise<void> {
    this.connection.cut();
    this.#stop.abort();
    await this.#ended;
  }
}

describe('two schedulers, one of which dies now and then', () => {
  let world: BreakableRuns;
  let candidates: Candidate[] = [];
  let history: RunHistory;
  afterEach(async () => {
    await Promise.all(candidates.map((candidate) => candidate.kill()));
    candidates = [];
    await history?.stop();
    await world?.stop();
  }, 60_000);

  const leader = async (): Promise<Candidate | undefined> => {
    const lease = await world.client
      .resource(Lease, 'default')
      .get('runs')
      .catch(() => undefined);
    return candidates.find(({ identity }) => identity === lease?.spec?.holderIdentity);
  };

  /** Comes, and may be cancelled or deleted at any time. */
  const submit = async (index: number, random: Random): Promise<void> => {
    await pause(random() * 4000);
    const name = `run-${index}`;
    const weight = random() < 0.2 ? 2 : 1;
    const resources = weight === 1 ? {} : { resources: { requests: { runs: weight } } };
    const { metadata } = await world.create(name, `ms=${Math.floor(random() * 200)} exit=${random() < 0.1 ? 1 : 0}`, resources);
    world.programs.weights.set(metadata.uid!, weight);
    const fate = random();
    if (fate > 0.2) return;
    await pause(random() * 1500);
    if (fate > 0.1) await world.change(name, { spec: { cancelRequested: true } });
    else
      await world.client
        .resource(RunKind, 'default')
        .delete(name)
        .catch(() => {});
  };

  const replaceLeader = async (name: string, how: 'killed' | 'frozen'): Promise<void> => {
    const old = await leader();
    candidates.push(new Candidate(world, name));
    if (old === undefined) return;
    if (how === 'frozen') {
      // What it decided is on its way until long after another leads.
      old.connection.freeze();
      await expect.poll(async () => (await leader())?.identity, { timeout: 20_000 }).not.toBe(old.identity);
      old.connection.thaw();
      return;
    }
    candidates.splice(candidates.indexOf(old), 1);
    await old.kill();
  };

  it.each([
    [1, 'killed'],
    [2, 'frozen'],
  ] as const)(
    'bring every Run to one end, with each Pod within its capacity (seed %d, leaders are %s)',
    async (seed, how) => {
      const random = seededRandom(seed);
      world = await BreakableRuns.start();
      // A write that was on its way for long may give a Pod one too many; it is runtimed that must not take it.
      history = new RunHistory(world.client, PLACES, how === 'killed');
      await history.start();
      for (const [name, places] of PLACES) await world.pod(name, places);
      candidates = [new Candidate(world, 'a'), new Candidate(world, 'b')];
      const work = Promise.all(Array.from({ length: RUNS }, (_, index) => submit(index, random)));
      await expect.poll(leader, { timeout: 20_000 }).toBeDefined();
      for (const name of ['c', 'd']) {
        await pause(500 + random() * 1000);
        await replaceLeader(name, how);
      }
      await work;
      await expect.poll(() => history.unfinished, { timeout: 60_000, interval: 100 }).toEqual([]);
      expect(history.complaints).toEqual([]);
      expect(history.all).toHaveLength(RUNS);
      for (const [pod, most] of world.programs.most) expect(most, pod).toBeLessThanOrEqual(PLACES.get(pod)!);
      for (const run of history.all) {
        const starts = world.programs.starts.get(run.metadata.uid!) ?? 0;
        expect(history.claims.get(run.metadata.uid!) ?? 0, run.metadata.name).toBeLessThanOrEqual(1);
        expect(starts, run.metadata.name).toBeLessThanOrEqual(1);
        if (phaseOf(run) === 'Succeeded') expect(starts, run.metadata.name).toBe(1);
      }
      expect(history.all.filter((run) => phaseOf(run) === 'Succeeded').length).toBeGreaterThan(RUNS / 2);
    },
    120_000,
  );
});
