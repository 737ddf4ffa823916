import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { RunKind, type Run } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../../src/api/kruntimes.io/v1alpha1/runtime.ts';
import { isTerminal, phaseOf } from '../../../src/api/kruntimes.io/v1alpha1/run-state.ts';
import { seededRandom, type Random } from '../../../src/lib/backoff.ts';
import { nodeUser, PLAIN_NODE, until } from '../../support/node-client.ts';
import { spawnEngine } from '../../support/spawned-engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-runs-kill-'));
const data = join(folder, 'data');
/** Beside the folders of the Runs, in a volume that outlives the containers. */
const MARKS = 'marks-of-runs';
const RUNS = 24;
const PROGRAMS = ['runtimed.js', 'runtime-server.js', 'node.js', 'up'] as const;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Of this instance alone: its data directory is in the command line, or in the environment of a container. */
function processesOf(program: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        if (!words.some((word) => word.endsWith(`/${program}`))) return false;
        return words.some((word) => word.includes(data)) || readFileSync(`/proc/${pid}/environ`, 'utf8').includes(data);
      } catch {
        return false;
      }
    });
}

test('every Run has one end, whichever program is killed while it lives', async () => {
  chmodSync(folder, 0o711);
  const random = seededRandom(5);
  const args = [...PLAIN_NODE, '--port', String(await freePort())];
  let engine = await spawnEngine(data, { args });
  let user = nodeUser(engine.target.url, data);
  const runs = () => user.client.resource(RunKind, 'default');
  const last = new Map<string, Run>();
  const complaints: string[] = [];
  const look = async () => {
    const found = await runs()
      .list()
      .catch(() => ({ items: [] as Run[] }));
    for (const run of found.items) {
      const before = last.get(run.metadata.name!);
      if (before !== undefined && isTerminal(phaseOf(before)) && before.metadata.resourceVersion !== run.metadata.resourceVersion)
        complaints.push(`${run.metadata.name} was ${phaseOf(before)} and changed to ${phaseOf(run)}`);
      last.set(run.metadata.name!, run);
    }
    return [...last.values()].filter((run) => !isTerminal(phaseOf(run))).map(({ metadata, status }) => ({ name: metadata.name, status }));
  };
  const kill = async (program: (typeof PROGRAMS)[number]) => {
    if (program !== 'up') {
      for (const pid of processesOf(program)) killIfThere(pid);
      return;
    }
    await user.close();
    await engine.kill();
    engine = await spawnEngine(data, { args });
    user = nodeUser(engine.target.url, data);
  };
  try {
    const template = { spec: { containers: [{ name: 'runtime', image: 'tenantry.dev/runtime-bash' }] } };
    const spec = { template, isolation: 'shared', capacity: { resources: { runs: 8 } } } as const;
    await user.client.resource(RuntimeKind, 'default').create({ metadata: { name: 'shared' }, spec });
    await create(runs(), 'warm', 1, random);
    await until(look, (left) => left.length === 0 && last.size === 1, 60);
    const order = PROGRAMS.map((program) => ({ program, at: random() })).toSorted((a, b) => a.at - b.at);
    let made = 0;
    for (const { program } of order) {
      const enough = made + RUNS / PROGRAMS.length;
      for (; made < enough; made++) {
        await create(runs(), `run-${made}`, made % 2 === 0 ? 1 : 3, random);
        await pause(random() * 100);
        await look();
      }
      await kill(program);
      // What was killed comes back before the next is.
      if (program !== 'up')
        await until(
          () => processesOf(program),
          (pids) => pids.length > 0,
          60,
        );
    }
    await until(look, (left) => left.length === 0 && last.size === RUNS + 1, 150);
    expect(complaints).toEqual([]);
    const lines = writtenMarks();
    for (const [name, run] of last) {
      const starts = lines.filter((line) => line === name).length;
      expect(starts, name).toBeLessThanOrEqual(run.spec.retryPolicy!.maxAttempts!);
      if (phaseOf(run) === 'Succeeded') expect(starts, name).toBeGreaterThan(0);
      else expect(run.status, name).toMatchObject({ phase: 'Failed', completionTime: expect.any(String) });
    }
    // Whoever may be tried again gets there.
    const ends = [...last.values()].filter((run) => run.spec.retryPolicy!.maxAttempts === 3).map(phaseOf);
    expect(new Set(ends)).toEqual(new Set(['Succeeded']));
  } finally {
    await user.close();
    await engine.stop();
    await until(
      () => processesOf('shim.js'),
      (pids) => pids.length === 0,
    );
  }
}, 300_000);

function writtenMarks(): string[] {
  const files = readdirSync(join(data, 'node'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith(MARKS));
  return files.flatMap((path) => readFileSync(join(data, 'node', path), 'utf8').split('\n'));
}

function create(runs: { create(run: object): Promise<Run> }, name: string, maxAttempts: number, random: Random): Promise<Run> {
  const program = `echo ${name} >> "$(dirname "$KRUNTIME_OUTPUTS")/../${MARKS}"; sleep ${(random() * 1.5).toFixed(2)}`;
  const spec = { runtime: 'shared', mode: { task: { args: [program] } }, retryPolicy: { maxAttempts, backoff: '100ms' } };
  return runs.create({ metadata: { name }, spec });
}

/** It may have ended by itself since it was seen. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
