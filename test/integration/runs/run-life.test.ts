import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunKind } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { ConfigMap, Secret } from '../../../src/client/kinds.ts';
import { RunsWorld, type RuntimePodHere } from './runs-world.ts';

describe('a Run', () => {
  let world: RunsWorld;
  let pod: RuntimePodHere;
  beforeAll(async () => {
    world = await RunsWorld.start();
    pod = await world.pod('pod-1', 4);
  }, 30_000);
  afterAll(() => world?.stop(), 30_000);

  /** Folders of Runs, those included that are about to be removed. */
  const leftFolders = (): string[] => {
    const foldersIn = (at: string) => readdirSync(pod.workspace, { recursive: true }).filter((path) => dirname(String(path)) === at);
    return ['.', '.discarded/0', '.discarded/1'].flatMap(foldersIn).filter((path) => path !== '.discarded') as string[];
  };

  it('goes from creation to success in three writes, with outputs, exit code and log', async () => {
    const created = await world.create('good', 'echo hello; echo oops >&2; echo "a=b" > $KRUNTIME_OUTPUTS');
    const run = await world.ended('good');
    expect(run.status).toMatchObject({
      phase: 'Succeeded',
      assignedPod: 'pod-1',
      attempt: 1,
      exitCode: 0,
      outputs: { a: 'b' },
      message: 'execution completed',
    });
    expect(run.status?.log?.text.split('\n').toSorted()).toEqual(['', 'hello', 'oops']);
    expect(pod.lines.map((line) => JSON.parse(line)).filter((line) => line.run_name === 'good' && line.stream === 'stdout')).toMatchObject([
      { message: 'hello' },
    ]);
    // Three writes, each with its own time of change; the object itself was never written again.
    expect(run.metadata.generation).toBe(created.metadata.generation);
    expect(run.status?.conditions?.map(({ type }) => type)).toEqual(['Scheduled', 'Running', 'Completed']);
    await expect.poll(() => existsSync(`${pod.workspace}/${run.metadata.uid}`)).toBe(false);
  });

  it('tells the exit code of a program that fails', async () => {
    await world.create('bad', 'exit 7');
    expect((await world.ended('bad')).status).toMatchObject({ phase: 'Failed', exitCode: 7, message: 'exit status 7' });
  });

  it('runs an inline script with arguments', async () => {
    await world.create('inline', '', { source: { inline: 'echo "$1-$2"' }, mode: { task: { args: ['x', 'y z'] } } });
    expect((await world.ended('inline')).status?.log?.text).toBe('x-y z\n');
  });

  it('finds Secrets and ConfigMaps in its environment, and fails without those it names', async () => {
    await world.client.resource(Secret, 'default').create({ metadata: { name: 'db' }, stringData: { password: 's3cret' } });
    await world.client.resource(ConfigMap, 'default').create({ metadata: { name: 'app' }, data: { mode: 'fast' } });
    const env = [
      { name: 'P', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
      { name: 'M', valueFrom: { configMapKeyRef: { name: 'app', key: 'mode' } } },
    ];
    await world.create('env', 'echo "$P $M"', { env });
    expect((await world.ended('env')).status?.log?.text).toBe('s3cret fast\n');
    await world.create('no-env', 'true', { env: [{ name: 'P', valueFrom: { secretKeyRef: { name: 'none', key: 'x' } } }] });
    const { status } = await world.ended('no-env');
    expect(status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('Secret "none" not found') });
    expect(status?.conditions?.find(({ type }) => type === 'Completed')?.reason).toBe('InvalidEnvironment');
  });

  it('is ended when its time is over, each attempt having its own', async () => {
    await world.create('slow', 'sleep 60', { timeout: '150ms', retryPolicy: { maxAttempts: 2, backoff: '10ms' } });
    expect((await world.ended('slow')).status).toMatchObject({ phase: 'Timeout', attempt: 2, message: 'timeout after 150ms' });
  });

  it('is tried again in its place, and may succeed then', async () => {
    await world.create('second', 'test -e seen && exit 0; touch seen; exit 1', { retryPolicy: { maxAttempts: 3, backoff: '10ms' } });
    expect((await world.ended('second')).status).toMatchObject({ phase: 'Succeeded', attempt: 2, exitCode: 0 });
  });

  it('with bad outputs is not tried again', async () => {
    await world.create('outputs', 'echo nonsense > $KRUNTIME_OUTPUTS', { retryPolicy: { maxAttempts: 3 } });
    const { status } = await world.ended('outputs');
    expect(status).toMatchObject({ phase: 'Failed', attempt: 1, message: 'line 1 of the outputs file is not KEY=VALUE' });
  });

  it('that is cancelled ends as Cancelled, with what it wrote, and its process is gone', async () => {
    await world.create('cancelled', 'echo $$; sleep 60');
    await expect.poll(() => pod.lines.some((line) => line.includes('"run_name":"cancelled"'))).toBe(true);
    await world.patch('cancelled', { cancelRequested: true });
    const { status } = await world.ended('cancelled');
    expect(status).toMatchObject({ phase: 'Cancelled', message: 'cancelled by user' });
    expect(() => process.kill(Number(status?.log?.text), 0)).toThrow('ESRCH');
  });

  it('that is deleted takes its process with it', async () => {
    await world.create('deleted', 'echo $$; sleep 60');
    const mine = () => pod.lines.find((line) => line.includes('"run_name":"deleted"'));
    await expect.poll(mine).toBeDefined();
    await world.client.resource(RunKind, 'default').delete('deleted');
    const pid = Number(JSON.parse(mine()!).message);
    await expect.poll(() => isThere(pid), { timeout: 5000 }).toBe(false);
    await expect.poll(leftFolders, { timeout: 15_000 }).toEqual([]);
  });

  it('with much output keeps its end, and more in a ConfigMap of its own', async () => {
    await world.create('much', 'for i in $(seq 3000); do echo "line $i"; done');
    const { status, metadata } = await world.ended('much');
    expect(status?.log).toMatchObject({ truncated: true, configMapName: 'much-log' });
    expect(status?.log?.text.endsWith('line 3000\n')).toBe(true);
    const kept = await world.client.resource(ConfigMap, 'default').get('much-log');
    expect(kept.data?.['log'].startsWith('line 1\n')).toBe(true);
    expect(kept.metadata.ownerReferences).toMatchObject([{ kind: 'Run', uid: metadata.uid }]);
  });

  it('beyond the capacity waits for its turn', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `wait-${i}`);
    await Promise.all(names.map((name) => world.create(name, 'sleep 0.3')));
    const runs = await Promise.all(names.map((name) => world.ended(name)));
    expect(runs.every(({ status }) => status?.phase === 'Succeeded')).toBe(true);
    // Never more than four at once: the last two began when others had ended.
    const written = runs.map(({ metadata }) => Number(metadata.resourceVersion));
    expect(new Set(written).size).toBe(6);
  });

  it('goes on while runtimed is away, and is found again', async () => {
    await world.create('survivor', 'sleep 1; echo done');
    await world.until('survivor', ({ status }) => status?.phase === 'Running');
    await expect.poll(() => leftFolders().length, { timeout: 15_000 }).toBe(1);
    await pod.stopRuntimed();
    await pod.startRuntimed();
    expect((await world.ended('survivor')).status).toMatchObject({ phase: 'Succeeded', attempt: 1, log: { text: 'done\n' } });
  });

  it('that is deleted while runtimed is away takes its process with it, too', async () => {
    await world.create('left', 'echo $$; sleep 60');
    const mine = () => pod.lines.find((line) => line.includes('"run_name":"left"'));
    await expect.poll(mine, { timeout: 15_000 }).toBeDefined();
    const { message } = JSON.parse(mine()!) as { message: string };
    await pod.stopRuntimed();
    await world.client.resource(RunKind, 'default').delete('left');
    expect(isThere(Number(message))).toBe(true);
    await pod.startRuntimed();
    await expect.poll(() => isThere(Number(message)), { timeout: 15_000 }).toBe(false);
    await expect.poll(leftFolders, { timeout: 15_000 }).toEqual([]);
  });

  it('whose program is gone after a restart is lost, or tried again when it may be', async () => {
    await world.create('lost', 'sleep 60');
    await world.create('retried', 'test -e seen && exit 0; touch seen; sleep 60', { retryPolicy: { maxAttempts: 2, backoff: '10ms' } });
    await world.until('lost', ({ status }) => status?.phase === 'Running');
    await world.until('retried', ({ status }) => status?.phase === 'Running');
    const { uid } = (await world.get('retried')).metadata;
    await expect.poll(() => existsSync(join(pod.workspace, uid!, 'seen')), { timeout: 10_000 }).toBe(true);
    await pod.stopRuntimed();
    await pod.stopServer();
    await pod.startServer();
    await pod.startRuntimed();
    const { status } = await world.ended('lost');
    expect(status).toMatchObject({ phase: 'Failed', message: 'runtime execution not found after runtimed restart' });
    expect((await world.ended('retried')).status).toMatchObject({ phase: 'Succeeded', attempt: 2 });
  });

  it('ends before its Pod does', async () => {
    await world.create('last', 'sleep 0.5; echo end');
    await world.until('last', ({ status }) => status?.phase === 'Running');
    await pod.drain(10_000);
    expect((await world.get('last')).status).toMatchObject({ phase: 'Succeeded', log: { text: 'end\n' } });
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
