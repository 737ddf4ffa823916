import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunKind, type Run } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { isTerminal, phaseOf } from '../../../src/api/kruntimes.io/v1alpha1/run-state.ts';
import { startRuns } from '../../../src/areas/runs/start-runs.ts';
import { createClient } from '../../../src/client/client.ts';
import { realClock, type Clock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { BreakableRuns, type BreakablePod } from './breakable-runs.ts';
import { RunHistory } from './run-history.ts';

/** The points of a Run's life on its Pod: each time that runtimed writes something of it, or asks something of the Runtime Server. */
type Point = (what: string) => Promise<'request' | 'answer' | void> | 'request' | 'answer' | void;

const HOUR_MS = 3_600_000;
/** The point where the result of the first attempt is written. */
const FIRST_RESULT = 3;
const PLACES = new Map([['pod', 2]]);

describe('a Run', () => {
  let world: BreakableRuns;
  let pod: BreakablePod;
  let history: RunHistory;
  let area: { stop(): Promise<void> };
  let count = 0;
  let offset = 0;
  /** Of the machine that the Pod is on. */
  const clock: Clock = { ...realClock, now: () => realClock.now() + offset };
  beforeAll(async () => {
    world = await BreakableRuns.start();
    history = new RunHistory(world.client, PLACES, true);
    await history.start();
    pod = await world.pod('pod', 2, { clock });
    // Every event of a watch comes twice, here and on the Pod.
    const connection = world.connection();
    connection.copies = 2;
    const settings = { runtimedImage: 'example/runtimed', maintainerImage: 'example/maintainer' };
    area = startRuns({ client: createClient(connection), clock: realClock, log: silentLog, metrics: new MetricsRegistry(), settings });
  }, 60_000);
  afterAll(async () => {
    await area?.stop();
    await history?.stop();
    await world?.stop();
  }, 60_000);

  /** Takes a Run through its life, with `at` called at each point of it. @returns the Run as it ended; undefined: it is gone */
  const live = async (at: Point, program: string, attempts: number): Promise<Run | undefined> => {
    const name = `run-${count++}`;
    const path = `/namespaces/default/runs/${name}/status`;
    pod.before = async ({ method, path: asked, body }) => {
      if (method === 'GET' || !asked.endsWith(path)) return undefined;
      return (await at(`write ${(body as { status?: { phase?: string } }).status?.phase ?? 'status'}`)) ?? undefined;
    };
    pod.asked = async (method, when) => void (await at(`${when} ${method}`));
    await world.create(name, program, { timeout: '60s', retryPolicy: { maxAttempts: attempts, backoff: '1ms' } });
    return ended(name);
  };
  const ended = async (name: string): Promise<Run | undefined> => {
    const until = Date.now() + 40_000;
    for (;;) {
      const run = await world.scripted.find(name);
      if (run === undefined || isTerminal(phaseOf(run))) return run;
      if (Date.now() > until) throw new Error(`${name} is ${phaseOf(run)}: ${JSON.stringify(run.status)}`);
      await pause(5);
    }
  };
  /** At the point of this number, once. */
  const once = (index: number, what: Point): Point => {
    let seen = 0;
    return (at) => (seen++ === index ? what(at) : undefined);
  };
  const isRequest = (what: string) => what.startsWith('write');
  const restartRuntimed = () => {
    void pod.killRuntimed();
    restarted = pod.startRuntimed();
  };
  let restarted = Promise.resolve();

  const LIVES = [
    { life: 'that succeeds', program: 'ms=3', attempts: 1 },
    { life: 'that is tried again', program: 'ms=3 exit=1', attempts: 2 },
  ];

  /** What can happen at any point. @returns what becomes of the request that is being made there */
  const DISTURBANCES: Record<string, { happens: Point; ends(run: Run | undefined, life: (typeof LIVES)[number], index: number): void }> = {
    'a request that is lost': {
      happens: (what) => (isRequest(what) ? 'request' : undefined),
      ends: asIfNothingHappened,
    },
    'an answer that is lost': {
      happens: (what) => (isRequest(what) ? 'answer' : undefined),
      ends: asIfNothingHappened,
    },
    'a change by somebody else': {
      happens: () => world.change(`run-${count - 1}`, { metadata: { labels: { touched: 'yes' } } }),
      ends: asIfNothingHappened,
    },
    'a clock that is set': {
      happens: () => void (offset = offset === 0 ? -HOUR_MS : 0),
      ends: asIfNothingHappened,
    },
    'the death of runtimed': {
      happens: (what) => (restartRuntimed(), isRequest(what) ? 'request' : undefined),
      ends: withinItsAttempts,
    },
    'the death of runtimed before it was answered': {
      happens: (what) => (restartRuntimed(), isRequest(what) ? 'answer' : undefined),
      ends: withinItsAttempts,
    },
    'the death of the Runtime Server': {
      happens: () => {
        restarted = pod.killServer().then(() => pod.startServer());
      },
      ends: withinItsAttempts,
    },
    'a cancellation': {
      happens: () => world.change(`run-${count - 1}`, { spec: { cancelRequested: true } }),
      ends(run, life) {
        if (phaseOf(run!) !== 'Cancelled') withinItsAttempts(run, life);
      },
    },
    'its deletion': {
      happens: async () => void (await world.client.resource(RunKind, 'default').delete(`run-${count - 1}`)),
      ends: (run) => expect(run).toBeUndefined(),
    },
  };

  function asIfNothingHappened(run: Run | undefined, { attempts }: (typeof LIVES)[number]): void {
    expect(run!.status).toMatchObject({ phase: attempts === 1 ? 'Succeeded' : 'Failed', attempt: attempts });
    expect(world.programs.starts.get(run!.metadata.uid!)).toBe(attempts);
  }

  function withinItsAttempts(run: Run | undefined, { attempts }: (typeof LIVES)[number], index?: number): void {
    expect(['Succeeded', 'Failed']).toContain(phaseOf(run!));
    expect(run!.status!.attempt).toBeLessThanOrEqual(attempts);
    const starts = world.programs.starts.get(run!.metadata.uid!) ?? 0;
    expect(starts).toBeLessThanOrEqual(attempts);
    // What the first attempt came to is known to the Runtime Server, or written: none is counted that was not made.
    if (index === FIRST_RESULT) expect(starts).toBe(attempts);
  }

  describe.each(LIVES)('$life', (life) => {
    let points: string[];
    beforeAll(async () => {
      points = [];
      await live((what) => void points.push(what), life.program, life.attempts);
    });

    it('passes through all that is to be broken', () => {
      const attempt = ['write Running', 'before execute', 'after execute'];
      const again = ['write status', 'write status', 'before execute', 'after execute', 'write Failed'];
      expect(points).toEqual(life.attempts === 1 ? [...attempt, 'write Succeeded'] : [...attempt, ...again]);
    });

    it.each(Object.entries(DISTURBANCES))(
      'has one end whenever it meets %s',
      async (_name, { happens, ends }) => {
        for (const index of points.keys()) {
          const run = await live(once(index, happens), life.program, life.attempts);
          await restarted;
          ends(run, life, index);
        }
        expect(history.complaints).toEqual([]);
        await expect.poll(() => world.programs.running).toBe(0);
        await expect.poll(() => leftIn(join(world.folder, 'pod'))).toEqual([]);
      },
      120_000,
    );
  });
});

/** But for the places where folders wait for their removal. */
function leftIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !/^\.discarded(\/[01])?$/.test(name));
}
