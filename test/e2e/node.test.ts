import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigMap, CoreEvent, Deployment, Lease, Node, Pod } from '../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../src/kube/object.ts';
import { isReady, nodeUser, PLAIN_NODE, until, type NodeUser } from '../support/node-client.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-node-'));
const data = join(folder, 'data');
let engine: SpawnedEngine;
let user: NodeUser;

beforeAll(async () => {
  // As root and without a sandbox, containers of other users pass through here to their volumes.
  chmodSync(folder, 0o711);
  engine = await spawnEngine(data, { args: [...PLAIN_NODE, '--node-resource', 'example.com/gpu=4'] });
  user = nodeUser(engine.target.url, data);
}, 60_000);

afterAll(async () => {
  await user.close();
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const stateOf = (pod: KubeObject | undefined): Json => pod?.status?.containerStatuses?.[0]?.state;

describe('a node that nobody uses yet', () => {
  test('is registered, ready and takes Pods', async () => {
    const node = await user.client.resource(Node).get('test-node');
    expect(node.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    expect(node.status?.capacity).toMatchObject({ pods: '250', 'example.com/gpu': '4' });
    expect(node.status?.nodeInfo?.kubeletVersion).toMatch(/^v1\.35\.\d+\+tenantry-/);
    expect(node.spec?.taints).toBeUndefined();
    expect(node.metadata.annotations?.['tenantry.dev/volume-folder']).toBe(join(data, 'node', 'volumes'));
    const lease = await user.client.resource(Lease, 'kube-node-lease').get('test-node');
    expect(lease.spec?.holderIdentity).toBe('test-node');
  });

  test('costs no process', () => {
    expect(existsSync(join(data, 'node', 'shim.sock'))).toBe(false);
  });
});

describe('a Pod that ends by itself', () => {
  test('shows how, and what it said', async () => {
    await user.createPod('once', { command: ['sh', '-c', 'echo to be or; echo not to be >&2; exit 3'] }, { restartPolicy: 'Never' });
    const pod = await until(
      () => user.pod('once'),
      (seen) => seen?.status?.phase === 'Failed',
    );
    expect(stateOf(pod)).toMatchObject({ terminated: { exitCode: 3, reason: 'Error' } });
    expect(pod!.status.containerStatuses[0]).toMatchObject({ restartCount: 0, ready: false, imageID: expect.stringContaining('sha256:') });
    expect((await user.logs('once')).split('\n').sort()).toEqual(['', 'not to be', 'to be or']);
    const events = await until(
      async () => (await user.client.resource(CoreEvent, 'default').list({ fieldSelector: 'involvedObject.name=once' })).items,
      (seen) => seen.some(({ reason }) => reason === 'Started'),
    );
    expect(events.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['Scheduled', 'Pulled', 'Created', 'Started']));
  });

  test('with a command that does not exist says so', async () => {
    await user.createPod('lost', { command: ['no-such-program'] }, { restartPolicy: 'Never' });
    const pod = await until(
      () => user.pod('lost'),
      (seen) => seen?.status?.phase === 'Failed',
    );
    expect(stateOf(pod).terminated).toMatchObject({ exitCode: 128, reason: 'StartError' });
  });

  test('of an image that cannot run here says so, and pulls nothing', async () => {
    await user.createPod('real', { image: 'registry.example/app:1' });
    const refused = await until(
      () => user.pod('real'),
      (seen) => stateOf(seen)?.waiting?.reason === 'CreateContainerError',
    );
    expect(stateOf(refused).waiting.message).toMatch(/^Cannot run "registry.example\/app:1": this node runs only built-in images/);
  });

  test('of a built-in image that there is not says so', async () => {
    await user.createPod('foreign', { image: 'tenantry.dev/no-such-image' });
    const pod = await until(
      () => user.pod('foreign'),
      (seen) => stateOf(seen)?.waiting?.reason === 'ImagePullBackOff',
    );
    expect(stateOf(pod).waiting.message).toMatch(/^Back-off pulling image "tenantry.dev\/no-such-image": ErrImagePull: /);
    expect(pod!.status.phase).toBe('Pending');
  });
});

describe('a Pod with configuration, hooks and sidecars', () => {
  test('gets what it asks for, in order', async () => {
    await user.client.resource(ConfigMap, 'default').create({ metadata: { name: 'words' }, data: { greeting: 'good morning' } });
    await user.createPod(
      'together',
      {
        command: ['sh', '-c', 'cat $TENANTRY_ROOT/work/order; echo $GREETING from $POD; trap "exit 0" TERM; while :; do sleep 0.1; done'],
        env: [
          { name: 'GREETING', valueFrom: { configMapKeyRef: { name: 'words', key: 'greeting' } } },
          { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
        volumeMounts: [{ name: 'work', mountPath: '/work' }],
      },
      {
        volumes: [{ name: 'work', emptyDir: {} }],
        initContainers: [
          init('first', 'echo first >> $ORDER'),
          { ...init('side', 'echo side >> $ORDER; trap "exit 0" TERM; while :; do sleep 0.1; done'), restartPolicy: 'Always' },
          init('last', 'while ! grep -q side $ORDER; do sleep 0.02; done; echo last >> $ORDER'),
        ],
      },
    );
    const pod = await until(() => user.pod('together'), isReady);
    expect(
      await until(
        () => user.logs('together', { container: 'c' }),
        (seen) => seen.includes('good'),
      ),
    ).toBe('first\nside\nlast\ngood morning from together\n');
    expect(pod!.status.initContainerStatuses.map(({ name, ready }: Json) => [name, ready])).toEqual([
      ['first', true],
      ['side', true],
      ['last', true],
    ]);
    await user.client.resource(Pod, 'default').delete('together');
    await until(
      () => user.pod('together'),
      (seen) => seen === undefined,
    );
  });
});

/** Where there is no sandbox, volumes are found below a folder that the container is told. */
function init(name: string, script: string): Json {
  const command = ['sh', '-c', `ORDER=$TENANTRY_ROOT/work/order; ${script}`];
  return { name, image: 'tenantry.dev/tools', command, volumeMounts: [{ name: 'work', mountPath: '/work' }] };
}

describe('a Deployment', () => {
  const ready = async (): Promise<KubeObject[]> => (await user.pods('app=hello')).filter(isReady);
  const deployments = () => user.client.resource(Deployment, 'default');

  test('runs, answers, grows, rolls and goes', async () => {
    await deployments().create({ metadata: { name: 'hello' }, spec: helloSpec(2, 'one') });
    const [first] = await until(ready, (pods) => pods.length === 2);
    const answer = await fetch(`http://${first.status.podIP}:8080/`);
    expect(await answer.text()).toContain(`Hello from Pod ${first.metadata.name}`);
    expect(await user.logs(first.metadata.name!)).toContain('listening');

    await deployments().patch('hello', { type: 'merge', patch: { spec: { replicas: 3 } } });
    await until(ready, (pods) => pods.length === 3);

    await deployments().patch('hello', { type: 'merge', patch: { spec: helloSpec(3, 'two') } });
    const rolled = await until(
      () => user.pods('app=hello'),
      (pods) => pods.length === 3 && pods.every((pod) => isReady(pod) && pod.metadata.labels?.round === 'two'),
      60,
    );
    expect(new Set(rolled.map((pod) => pod.status.podIP)).size).toBe(3);

    await deployments().delete('hello');
    await until(
      () => user.pods('app=hello'),
      (pods) => pods.length === 0,
    );
  }, 120_000);
});

function helloSpec(replicas: number, round: string): Json {
  const container = {
    name: 'hello',
    image: 'tenantry.dev/hello',
    ports: [{ name: 'http', containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 1 },
    livenessProbe: { tcpSocket: { port: 'http' } },
  };
  return {
    replicas,
    selector: { matchLabels: { app: 'hello' } },
    template: { metadata: { labels: { app: 'hello', round } }, spec: { terminationGracePeriodSeconds: 5, containers: [container] } },
  };
}

describe('a container that fails again and again', () => {
  test('is held back, and its last run can be read', async () => {
    await user.createPod('unhappy', { command: ['sh', '-c', 'echo run; exit 1'] });
    const pod = await until(
      () => user.pod('unhappy'),
      (seen) => stateOf(seen)?.waiting?.reason === 'CrashLoopBackOff',
    );
    expect(stateOf(pod).waiting.message).toBe(`back-off 10s restarting failed container=c pod=unhappy_default(${pod!.metadata.uid})`);
    expect(pod!.status.containerStatuses[0]).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 1 } } });
    expect(await user.logs('unhappy', { previous: true }).catch((error: Error) => error.message)).toMatch(
      /run|previous terminated container/,
    );
    expect(await user.logs('unhappy')).toBe('run\n');
  });
});

describe('a clean stop', () => {
  test('ends Pods and leaves nothing behind; the next start runs them again', async () => {
    await user.createPod('steady', { command: ['sh', '-c', 'echo started; trap "exit 0" TERM; while :; do sleep 0.1; done'] });
    const before = await until(() => user.pod('steady'), isReady);
    await user.close();
    await engine.stop();
    expect(existsSync(join(data, 'node', 'shim.sock'))).toBe(false);
    expect(readdirSync(join(data, 'node', 'pods'))).toEqual([]);

    engine = await spawnEngine(data, { args: PLAIN_NODE });
    user = nodeUser(engine.target.url, data);
    const after = await until(
      () => user.pod('steady'),
      (pod) => isReady(pod) && pod?.status.containerStatuses[0].restartCount === 1,
    );
    expect(after!.metadata.uid).toBe(before!.metadata.uid);
    expect(after!.status.containerStatuses[0].lastState.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
  }, 90_000);
});
