import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Pod } from '../../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { seededRandom } from '../../../src/lib/backoff.ts';
import { isReady, nodeUser, PLAIN_NODE, until, type NodeUser } from '../../support/node-client.ts';
import { spawnEngine, type SpawnedEngine } from '../../support/spawned-engine.ts';

let folder: string;
let data: string;
let engine: SpawnedEngine;
let user: NodeUser;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-node-kill-'));
  chmodSync(folder, 0o711);
  data = join(folder, 'data');
  await startUp();
}, 60_000);

afterEach(async () => {
  await user.close();
  await engine.stop();
  await until(
    () => [processOf('node.js'), processOf('shim.js')],
    (left) => left.every((pid) => pid === undefined),
  );
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function startUp(): Promise<void> {
  engine = await spawnEngine(data, { args: PLAIN_NODE });
  user = nodeUser(engine.target.url, data);
}

async function killUp(): Promise<void> {
  await user.close();
  await engine.kill();
}

/** Every start of the program leaves a line in the log of its run. */
const LOYAL = { command: ['sh', '-c', 'echo started; trap "exit 0" TERM; while :; do sleep 0.05; done'] };

/** The process of the instance that runs this program; undefined when there is none. */
function processOf(program: string): number | undefined {
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const words = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
      if (words.some((word) => word.endsWith(`/${program}`)) && words.some((word) => word.includes(data))) return Number(entry);
    } catch {
      // It ended while we looked.
    }
  }
  return undefined;
}

function kill(program: string): void {
  const pid = processOf(program);
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
}

/** How often each run of the Pod's container was started. */
async function starts(pod: KubeObject): Promise<number> {
  const logs = join(data, 'node', 'logs', `default_${pod.metadata.name}_${pod.metadata.uid}`, 'c');
  let lines = 0;
  for (const file of readdirSync(logs))
    lines += readFileSync(join(logs, file), 'utf8')
      .split('\n')
      .filter((line) => line.includes('started')).length;
  return lines;
}

const restarts = (pod: KubeObject | undefined): number => pod?.status?.containerStatuses?.[0]?.restartCount ?? -1;
const startedAt = (pod: KubeObject | undefined): Json => pod?.status?.containerStatuses?.[0]?.state?.running?.startedAt;

describe('kill -9', () => {
  test('of the agent leaves Pods running, and the next one takes them over', async () => {
    await user.createPod('loyal', LOYAL);
    const before = await until(() => user.pod('loyal'), isReady);
    const first = processOf('node.js');
    kill('node.js');
    await until(
      () => processOf('node.js'),
      (pid) => pid !== undefined && pid !== first,
    );
    // It is taken over when it can be ended: the new agent must know it.
    expect(await logsOf('loyal')).toBe('started\n');
    const after = await user.pod('loyal');
    expect([restarts(after), startedAt(after), after!.status.podIP]).toEqual([0, startedAt(before), before!.status.podIP]);
    expect(await starts(after!)).toBe(1);
    await user.client.resource(Pod, 'default').delete('loyal');
    await until(
      () => user.pod('loyal'),
      (pod) => pod === undefined,
    );
  }, 60_000);

  test('of up leaves Pods running, and the next up takes them over', async () => {
    await user.createPod('loyal', LOYAL);
    const before = await until(() => user.pod('loyal'), isReady);
    await killUp();
    await until(
      () => processOf('node.js'),
      (pid) => pid === undefined,
    );
    expect(processOf('shim.js')).toBeDefined();
    await startUp();
    expect(await logsOf('loyal')).toBe('started\n');
    const after = await user.pod('loyal');
    expect([restarts(after), startedAt(after), after!.status.podIP]).toEqual([0, startedAt(before), before!.status.podIP]);
    expect(await starts(after!)).toBe(1);
  }, 60_000);

  test('of the shim ends Pods, and their policy says what follows', async () => {
    await user.createPod('loyal', LOYAL);
    await user.createPod('once', LOYAL, { restartPolicy: 'Never' });
    await until(
      () => user.pods(),
      (pods) => pods.length === 2 && pods.every(isReady),
    );
    // What a Pod says passes the shim: what it has not written yet goes with it.
    for (const name of ['loyal', 'once']) expect(await logsOf(name)).toBe('started\n');
    kill('shim.js');
    const loyal = await until(
      () => user.pod('loyal'),
      (pod) => restarts(pod) === 1 && isReady(pod),
    );
    const once = await until(
      () => user.pod('once'),
      (pod) => pod?.status?.phase === 'Failed',
    );
    expect(loyal!.status.containerStatuses[0].lastState.terminated.exitCode).toBe(137);
    expect(once!.status.containerStatuses[0].state.terminated.exitCode).toBe(137);
    expect(await starts(once!)).toBe(1);
  }, 60_000);

  test('of up while a Pod is deleted: the next up finishes it', async () => {
    await user.createPod(
      'slow',
      { command: ['sh', '-c', 'trap "" TERM; while :; do sleep 0.05; done'] },
      { terminationGracePeriodSeconds: 3 },
    );
    await until(() => user.pod('slow'), isReady);
    await user.client.resource(Pod, 'default').delete('slow');
    await killUp();
    await startUp();
    await until(
      () => user.pod('slow'),
      (pod) => pod === undefined,
    );
  }, 60_000);

  test('of up, then a forced deletion before the agent is back: nothing is left running', async () => {
    await user.createPod('orphan', LOYAL);
    const pod = await until(() => user.pod('orphan'), isReady);
    await killUp();
    engine = await spawnEngine(data, { args: ['--node', 'none'] });
    user = nodeUser(engine.target.url, data);
    await user.client.resource(Pod, 'default').delete('orphan', { gracePeriodSeconds: 0 });
    await user.close();
    await engine.stop();
    await startUp();
    await until(
      () =>
        existsSync(join(data, 'node', 'logs', `default_orphan_${pod!.metadata.uid}`)) || readdirSync(join(data, 'node', 'pods')).length > 0,
      (left) => !left,
    );
    expect(readdirSync(join(data, 'node', 'process'))).toEqual([]);
  }, 60_000);
});

describe('kill -9 at any moment', () => {
  test.each([1, 2])(
    'no run is started twice and all Pods come to what they should be (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const names = ['a', 'b', 'c', 'd'];
      const created = (async () => {
        for (const name of names)
          await retried(() => user.createPod(name, LOYAL, { restartPolicy: name === 'd' ? 'OnFailure' : 'Always' }));
      })();
      for (let round = 0; round < 3; round++) {
        await new Promise((resolve) => void setTimeout(resolve, random() * 700));
        const victim = Math.floor(random() * 3);
        if (victim === 0) {
          await killUp();
          await startUp();
        } else kill(victim === 1 ? 'node.js' : 'shim.js');
      }
      await created;
      const pods = await until(
        () => user.pods(),
        (seen) => seen.length === names.length && seen.every(isReady),
        60,
      );
      for (const pod of pods) {
        const logs = join(data, 'node', 'logs', `default_${pod.metadata.name}_${pod.metadata.uid}`, 'c');
        // One line per run at most: who is started twice under the same number says so twice.
        for (const file of readdirSync(logs)) {
          const lines = readFileSync(join(logs, file), 'utf8')
            .split('\n')
            .filter((line) => line.includes('started'));
          expect([pod.metadata.name, file, lines.length <= 1]).toEqual([pod.metadata.name, file, true]);
        }
        // The newest agent may still be on its way.
        expect(await logsOf(pod.metadata.name!)).toBe('started\n');
      }
      for (const name of names) await user.client.resource(Pod, 'default').delete(name);
      await until(
        () => user.pods(),
        (seen) => seen.length === 0,
      );
      await until(
        () => readdirSync(join(data, 'node', 'process')).length,
        (left) => left === 0,
      );
    },
    180_000,
  );
});

const logsOf = (name: string): Promise<string> =>
  until(
    () => user.logs(name).catch(() => ''),
    (text) => text !== '',
  );

/** The server may be gone just now. */
async function retried<T>(action: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      if ((error as { reason?: string }).reason === 'AlreadyExists') return undefined as T;
      if (attempt === 100) throw error;
      await new Promise((resolve) => void setTimeout(resolve, 100));
    }
  }
}
