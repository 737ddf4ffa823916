import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DaemonSet, Job, Pod, StatefulSet } from '../../src/client/kinds.ts';
import type { Json } from '../../src/kube/object.ts';
import { isReady, nodeUser, PLAIN_NODE, until, type NodeUser } from '../support/node-client.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-workloads-'));
const data = join(folder, 'data');
let engine: SpawnedEngine;
let user: NodeUser;

async function startUp(...more: string[]): Promise<void> {
  engine = await spawnEngine(data, { args: [...PLAIN_NODE, ...more] });
  user = nodeUser(engine.target.url, data);
}

async function stopUp(): Promise<void> {
  await user.close();
  await engine.stop();
}

beforeAll(async () => {
  chmodSync(folder, 0o711);
  await startUp('--keep-pods');
}, 60_000);

afterAll(async () => {
  await stopUp();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const shell = (script: string, more: Json = {}): Json => ({
  name: 'c',
  image: 'tenantry.dev/tools',
  command: ['sh', '-c', script],
  ...more,
});
const LOYAL = 'trap "exit 0" TERM; while :; do sleep 0.05; done';

describe('a Job', () => {
  test('is done when its Pods are, and takes them with it', async () => {
    const jobs = user.client.resource(Job, 'default');
    const template = { spec: { restartPolicy: 'Never', containers: [shell('echo counting; exit 0')] } };
    await jobs.create({ metadata: { name: 'count' }, spec: { completions: 3, parallelism: 2, template } });
    const job = await until(
      () => jobs.get('count'),
      (seen) => seen.status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') === true,
    );
    expect(job.status?.succeeded).toBe(3);
    await jobs.delete('count', { propagationPolicy: 'Background' });
    await until(
      () => user.pods('job-name=count'),
      (pods) => pods.length === 0,
    );
  }, 60_000);

  test('that fails tries again', async () => {
    const jobs = user.client.resource(Job, 'default');
    const template = { spec: { restartPolicy: 'Never', containers: [shell('exit 9')] } };
    await jobs.create({ metadata: { name: 'hopeless' }, spec: { backoffLimit: 0, template } });
    const job = await until(
      () => jobs.get('hopeless'),
      (seen) => seen.status?.conditions?.some(({ type, status }) => type === 'Failed' && status === 'True') === true,
    );
    expect(job.status?.failed).toBe(1);
    await jobs.delete('hopeless', { propagationPolicy: 'Background' });
  }, 60_000);
});

describe('a StatefulSet', () => {
  test('finds its volume again', async () => {
    const labels = { app: 'memory' };
    const container = shell(`echo visit >> $TENANTRY_ROOT/data/visits; cat $TENANTRY_ROOT/data/visits; ${LOYAL}`, {
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    });
    await user.client.resource(StatefulSet, 'default').create({
      metadata: { name: 'memory' },
      spec: {
        serviceName: 'memory',
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 2, containers: [container] } },
        volumeClaimTemplates: [
          { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } } },
        ],
      },
    });
    const first = await until(() => user.pod('memory-0'), isReady);
    expect(
      await until(
        () => user.logs('memory-0'),
        (text) => text !== '',
      ),
    ).toBe('visit\n');
    await user.client.resource(Pod, 'default').delete('memory-0');
    await until(
      () => user.pod('memory-0'),
      (pod) => isReady(pod) && pod!.metadata.uid !== first!.metadata.uid,
    );
    expect(
      await until(
        () => user.logs('memory-0'),
        (text) => text !== '',
      ),
    ).toBe('visit\nvisit\n');
    await user.client.resource(StatefulSet, 'default').delete('memory');
  }, 60_000);
});

describe('a DaemonSet', () => {
  test('has its one Pod on the one node', async () => {
    const labels = { app: 'everywhere' };
    await user.client.resource(DaemonSet, 'default').create({
      metadata: { name: 'everywhere' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [shell(LOYAL)] } } },
    });
    const [pod] = await until(
      () => user.pods('app=everywhere'),
      (pods) => pods.length === 1 && isReady(pods[0]),
    );
    expect(pod.spec.nodeName).toBe('test-node');
    await user.client.resource(DaemonSet, 'default').delete('everywhere');
  }, 60_000);
});

describe('a container that ignores its end', () => {
  test('is killed when its time is over, and others do not notice', async () => {
    await user.createPod(
      'stubborn',
      { command: ['sh', '-c', 'trap "" TERM; while :; do sleep 0.05; done'] },
      { terminationGracePeriodSeconds: 2 },
    );
    await user.createPod('meek', { command: ['sh', '-c', LOYAL] });
    await until(() => user.pod('stubborn'), isReady);
    await until(() => user.pod('meek'), isReady);
    await Promise.all(['stubborn', 'meek'].map((name) => user.client.resource(Pod, 'default').delete(name)));
    await until(
      () => user.pod('meek'),
      (pod) => pod === undefined,
    );
    await until(
      () => user.pod('stubborn'),
      (pod) => pod === undefined,
    );
  }, 60_000);
});

describe('a stop with --keep-pods', () => {
  test('leaves Pods running; the next start finds them', async () => {
    await user.createPod('loyal', { command: ['sh', '-c', `echo started; ${LOYAL}`] });
    const before = await until(() => user.pod('loyal'), isReady);
    await stopUp();
    expect(existsSync(join(data, 'node', 'shim.sock'))).toBe(true);
    await startUp();
    expect(
      await until(
        () => user.logs('loyal').catch(() => ''),
        (text) => text !== '',
      ),
    ).toBe('started\n');
    const after = await user.pod('loyal');
    expect(after!.status.containerStatuses[0]).toMatchObject({
      restartCount: 0,
      state: before!.status.containerStatuses[0].state,
    });
  }, 60_000);
});
