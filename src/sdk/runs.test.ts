import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RunKind } from '../api/kruntimes.io/v1alpha1/run.ts';
import { CustomResourceDefinition, Namespace } from '../client/kinds.ts';
import { ownCustomResourceDefinitions } from '../../test/support/custom-resource-definitions.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../test/support/embedded-target.ts';
import { startRunActor } from '../../test/support/run-actor.ts';
import { openCluster, type Cluster } from './cluster.ts';
import type { OutputChunk, Runs } from './runs-api.ts';
import { runsOf } from './runs.ts';

let target: EmbeddedTarget;
let cluster: Cluster;
let actor: { stop(): Promise<void> };
let runs: Runs;
let connections = 0;

beforeAll(async () => {
  target = await startEmbeddedTarget();
  const surroundings = { env: {}, home: '/nonexistent', userAgent: 'test', dataDirectory: () => '/nonexistent' };
  cluster = await openCluster({ kubeconfig: target.kubeconfig }, surroundings);
  for (const definition of ownCustomResourceDefinitions()) await cluster.client.resource(CustomResourceDefinition).create(definition);
  await vi.waitFor(() => cluster.client.resource(RunKind).list(), { timeout: 15_000 });
  actor = startRunActor(cluster.client, 'default');
  runs = runsOf(() => {
    connections++;
    return openCluster({ kubeconfig: target.kubeconfig }, surroundings);
  });
}, 60_000);
afterAll(async () => {
  await runs?.close();
  await actor?.stop();
  await cluster?.client.close();
  await target?.close();
});

describe('runs.run', () => {
  it('gives the result of a Run', async () => {
    expect(await runs.run({ args: ['ok'], name: 'one' })).toEqual({
      name: 'one',
      namespace: 'default',
      phase: 'Succeeded',
      exitCode: 0,
      outputs: { answer: '42' },
      log: 'ok wrote this\n',
      message: 'execution completed',
      attempts: 1,
      artifacts: [],
    });
  });

  it('gives a failure as a result, not as an exception', async () => {
    expect(await runs.run({ args: ['exit 3'] })).toMatchObject({ phase: 'Failed', exitCode: 3, outputs: {}, message: 'exit status 3' });
  });

  it('tells what is written', async () => {
    const chunks: OutputChunk[] = [];
    await runs.run({ args: ['ok'] }, { onOutput: (chunk) => chunks.push(chunk) });
    expect(chunks).toEqual([{ stream: 'stdout', text: 'ok wrote this\n' }]);
  });

  it('cancels when the signal fires, and rejects with its reason', async () => {
    const controller = new AbortController();
    const running = runs.run({ args: ['slow'], name: 'aborted' }, { signal: controller.signal });
    await vi.waitFor(async () => expect((await (await runs.get('aborted')).get()).status?.phase).toBe('Running'));
    controller.abort(new Error('changed my mind'));
    await expect(running).rejects.toThrow('changed my mind');
    expect(await (await runs.get('aborted')).result()).toMatchObject({ phase: 'Cancelled', exitCode: 130 });
  });

  it('makes nothing when the signal has fired before', async () => {
    const before = (await runs.list()).length;
    await expect(runs.run({ args: ['ok'] }, { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late');
    expect(await runs.list()).toHaveLength(before);
  });

  it('throws what the API server refuses', async () => {
    await expect(runs.run({ args: ['ok'], name: 'Not A Name' })).rejects.toMatchObject({ reason: 'Invalid' });
    await expect(runs.in('nosuch').run({ args: ['ok'] })).rejects.toMatchObject({ reason: 'NotFound' });
  });
});

describe('a handle', () => {
  it('streams, cancels and gives the result', async () => {
    const handle = await runs.submit({ args: ['slow'], labels: { test: 'handle' } });
    expect(handle.name).toMatch(/^run-\w{8}$/);
    const reading = (async () => {
      const texts: string[] = [];
      for await (const { text } of handle.output()) texts.push(text);
      return texts;
    })();
    await vi.waitFor(async () => expect((await handle.get()).status?.phase).toBe('Running'));
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ phase: 'Cancelled' });
    expect(await reading).toEqual(['slow wrote this\n']);
    await handle.delete();
    await handle.delete();
    await expect(runs.get(handle.name)).rejects.toMatchObject({ reason: 'NotFound' });
  });

  it('says so when the Run is deleted while it is waited for', async () => {
    const handle = await runs.submit({ args: ['wait'] });
    const refused = expect(handle.result()).rejects.toThrow('it was deleted from namespace "default"');
    await handle.delete();
    await refused;
  });

  it('stops waiting when it is told to, and leaves the Run alone', async () => {
    const handle = await runs.submit({ args: ['slow'] });
    await expect(handle.result({ signal: AbortSignal.timeout(50) })).rejects.toThrow();
    expect((await handle.get()).status?.phase).not.toBe('Cancelled');
  });
});

describe('runs', () => {
  it('lists by Runtime, phase and labels', async () => {
    await runs.run({ args: ['ok'], name: 'listed', runtime: 'python', labels: { test: 'list' } });
    const names = async (filter: Parameters<Runs['list']>[0]) => (await runs.list(filter)).map(({ metadata }) => metadata.name);
    expect(await names({ runtime: 'python' })).toEqual(['listed']);
    expect(await names({ phase: 'Succeeded', labels: { test: 'list' } })).toEqual(['listed']);
    expect(await names({ phase: 'Failed', labels: { test: 'list' } })).toEqual([]);
  });

  it('acts in another namespace on the same connection', async () => {
    await cluster.client.resource(Namespace).create({ metadata: { name: 'shop' } });
    const handle = await runs.in('shop').submit({ args: ['ok'], name: 'there' });
    expect(handle.namespace).toBe('shop');
    expect(connections).toBe(1);
  });
});

describe('runs-api.ts', () => {
  it('is a declaration that stands alone', async () => {
    const source = readFileSync('src/sdk/runs-api.ts', 'utf8');
    expect(source).not.toMatch(/^import /m);
    expect((await transform(source, { loader: 'ts' })).code.trim()).toBe('');
  });
});
