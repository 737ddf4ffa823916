import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { machineCgroups } from '../../src/engine/node/drivers/cgroups/cgroups.ts';
import { containerPlaces } from '../../src/engine/node/drivers/oci/container-places.ts';
import { instanceId } from '../../src/engine/node/network/network-plan.ts';
import { Deployment, Node, Pod, Service } from '../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../src/kube/object.ts';
import { AHEAD, FAR_AHEAD } from '../../src/main/processor-priority.ts';
import { isReady, nodeUser, until, type NodeUser } from '../support/node-client.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { nodeTools } from './node-tools.ts';
import { equal, turnsOf } from './processor-turns.ts';

/** The whole node as root: containers, network namespaces, Services, DNS; as a user of `tenantry up` sees it. */
const folder = mkdtempSync(join(tmpdir(), 'tenantry-node-oci-'));
const data = join(folder, 'data');
let engine: SpawnedEngine;
let user: NodeUser;

const agentPid = (): number => Number(spawnSync('pgrep', ['-P', String(engine.pid), '-f', 'node.js'], { encoding: 'utf8' }).stdout);

async function startUp(): Promise<void> {
  engine = await spawnEngine(data, { args: ['--node', 'oci', '--node-name', 'oci-node'] });
  user = nodeUser(engine.target.url, data);
}

beforeAll(async () => {
  await nodeTools('runc', 'nft', 'ip');
  await startUp();
});

afterAll(async () => {
  await user.close();
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What Pods leave on a machine if nobody takes it away; other instances may run on it too. */
function traces(): string[] {
  const own = instanceId(join(data, 'node'));
  const namespaces = existsSync('/var/run/netns') ? readdirSync('/var/run/netns') : [];
  const tables = execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' }).split('\n');
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return [...[...namespaces, ...tables].filter((name) => name.includes(own)), ...mounts.filter((line) => line.includes(folder))];
}

const LOYAL = 'trap "exit 0" TERM; while :; do sleep 0.05; done';
const stateOf = (pod: KubeObject | undefined): Json => pod?.status?.containerStatuses?.[0]?.state;
const ended = (name: string): Promise<KubeObject | undefined> =>
  until(
    () => user.pod(name),
    (pod) => stateOf(pod)?.terminated !== undefined,
    60,
  );

async function said(name: string, script: string, container: Json = {}, spec: Json = {}): Promise<string> {
  await user.createPod(name, { command: ['sh', '-c', script], ...container }, { restartPolicy: 'Never', ...spec });
  await ended(name);
  return user.logs(name);
}

describe('containers', () => {
  test('have an address, names and nothing of the machine', async () => {
    const text = await said('look', 'hostname; id -u; cat /proc/1/comm; ls /proc | grep -c "^[0-9]"; cat /etc/resolv.conf');
    const [hostname, id, first, processes, ...resolver] = text.split('\n');
    expect([hostname, id, first]).toEqual(['look', '0', 'sh']);
    expect(Number(processes)).toBeLessThan(10);
    expect(resolver.join('\n')).toContain('search default.svc.cluster.local svc.cluster.local cluster.local');
    const pod = await user.pod('look');
    expect(pod!.status.podIP).toMatch(/^10\./);
    expect(pod!.status.conditions.find(({ type }: Json) => type === 'tenantry.dev/Isolated').status).toBe('True');
    const node = await user.client.resource(Node).get('oci-node');
    expect(node.status?.nodeInfo?.containerRuntimeVersion).toMatch(/^(runc|crun|runsc):\/\/\d/);
    expect(node.status?.conditions?.find(({ type }) => type === 'NetworkPolicyEnforced')?.status).toBe('True');
  });

  test('keep to what their security context says', async () => {
    const securityContext = { runAsUser: 4711, runAsGroup: 42, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
    const text = await said('modest', 'id -u; id -g; touch /x 2>&1 | grep -o "Read-only"; grep CapEff /proc/self/status', {
      securityContext,
    });
    expect(text).toBe('4711\n42\nRead-only\nCapEff:\t0000000000000000\n');
  });

  test('that must not be root and would be are not started', async () => {
    await user.createPod('root', { command: ['true'], securityContext: { runAsNonRoot: true } });
    const pod = await until(
      () => user.pod('root'),
      (seen) => stateOf(seen)?.waiting?.reason === 'CreateContainerConfigError',
    );
    expect(stateOf(pod).waiting.message).toContain('root');
    await user.client.resource(Pod, 'default').delete('root');
  });

  test('that use too much memory are killed, and say so', async () => {
    const resources = { limits: { memory: '64Mi' } };
    const command = ['node', '-e', 'const all = []; for (;;) all.push(Buffer.alloc(8 << 20, 1))'];
    await user.createPod('greedy', { command, resources }, { restartPolicy: 'Never' });
    expect(stateOf(await ended('greedy')).terminated).toMatchObject({ reason: 'OOMKilled', exitCode: 137 });
  });

  test('share volumes, one after the other and side by side', async () => {
    const mount = { volumeMounts: [{ name: 'v', mountPath: '/v' }] };
    const init = { name: 'i', image: 'tenantry.dev/tools', command: ['sh', '-c', 'echo one > /v/file'], ...mount };
    const side = { ...init, name: 's', restartPolicy: 'Always', command: ['sh', '-c', `echo two >> /v/file; ${LOYAL}`] };
    const script = 'while [ $(wc -l < /v/file) -lt 2 ]; do sleep 0.05; done; cat /v/file';
    const spec = { volumes: [{ name: 'v', emptyDir: {} }], initContainers: [init, side] };
    await user.createPod('shared', { command: ['sh', '-c', script], ...mount }, { restartPolicy: 'Never', ...spec });
    const pod = await until(
      () => user.pod('shared'),
      (seen) => seen?.status?.phase === 'Succeeded',
    );
    expect(await user.logs('shared', { container: 'c' })).toBe('one\ntwo\n');
    expect(pod!.status.initContainerStatuses.map(({ name }: Json) => name)).toEqual(['i', 's']);
  });

  test('leave their last words', async () => {
    await said('wordy', 'echo -n farewell > /dev/termination-log; exit 4');
    expect(stateOf(await user.pod('wordy')).terminated).toMatchObject({ exitCode: 4, message: 'farewell' });
  });
});

describe('a Service', () => {
  test('leads to its Pods, by its name', async () => {
    const labels = { app: 'hello' };
    const container = {
      name: 'hello',
      image: 'tenantry.dev/hello',
      readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 1 },
    };
    const spec = { terminationGracePeriodSeconds: 2, containers: [container] };
    await user.client.resource(Deployment, 'default').create({
      metadata: { name: 'hello' },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    const service = await user.client.resource(Service, 'default').create({
      metadata: { name: 'hello' },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    });
    await until(
      () => user.pods('app=hello'),
      (pods) => pods.filter(isReady).length === 2,
      60,
    );
    const script = `fetch("http://hello.default.svc.cluster.local/").then(r => r.text()).then(t => console.log(t.split("\\n")[0]))`;
    await user.createPod('caller', { command: ['node', '-e', script] }, { restartPolicy: 'OnFailure' });
    await until(
      () => user.pod('caller'),
      (pod) => pod?.status?.phase === 'Succeeded',
      60,
    );
    expect(await user.logs('caller')).toMatch(/^Hello from Pod hello-/);
    expect(service.spec?.clusterIP).toMatch(/^10\./);
  });
});

describe('the API server', () => {
  const ASK = `
    const get = () => require('https').get({ host: 'kubernetes.default.svc', path: '/api/v1/nodes?from=pod', rejectUnauthorized: false, agent: false },
      (answer) => (answer.resume(), console.log('answered'))).on('error', () => {});
    setInterval(get, 100);`;
  const answers = async (): Promise<number> => (await user.logs('asking').catch(() => '')).split('answered').length - 1;

  test('knows Pods by their own addresses, also those that ask after the agent was killed', async () => {
    await user.createPod('asking', { command: ['node', '-e', ASK] });
    const { podIP } = (await until(() => user.pod('asking'), isReady))!.status;
    await until(answers, (count) => count > 2);
    const agent = agentPid();
    process.kill(agent, 'SIGKILL');
    await until(
      () => Promise.resolve(agentPid()),
      (pid) => pid > 0 && pid !== agent,
    );
    const before = await until(answers, (count) => count > 0);
    await until(answers, (count) => count > before + 2);
    const asked = readFileSync(join(data, 'audit.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('from=pod'));
    expect(asked.length).toBeGreaterThan(before);
    expect(asked.every((line) => line.includes(`"sourceIPs":["${podIP}"]`))).toBe(true);
    await user.client.resource(Pod, 'default').delete('asking');
  });
});

describe('a Pod that uses more of the processors than it asked for', () => {
  const BURN = `${'while :; do :; done & '.repeat(availableParallelism())} wait`;
  const cgroupOf = async (name: string): Promise<string> => {
    const { metadata } = (await until(() => user.pod(name), isReady, 60))!;
    return containerPlaces(join(data, 'node', 'oci')).pod(metadata.uid!).cgroup;
  };
  const untilGivesWay = (cgroup: string) =>
    until(
      () => turnsOf(cgroup),
      ({ givesWay }) => givesWay,
    );
  const untilEqual = (cgroup: string, shares: number) =>
    until(
      () => turnsOf(cgroup),
      (turns) => isDeepStrictEqual(turns, equal(shares)),
    );
  /** Whatever else the machine does, it uses nothing from here on, or goes on. */
  const signal = async (cgroup: string, name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of await (await machineCgroups()).cgroups!.processes(cgroup)) process.kill(pid, name);
  };

  test('gives way to others while processors are scarce, and has its shares again afterwards, whoever looks after it', async () => {
    await user.createPod('calm', { command: ['sh', '-c', LOYAL], resources: { requests: { cpu: '500m' } } });
    await user.createPod('burner', { command: ['sh', '-c', BURN], resources: { requests: { cpu: '50m' } } });
    const [calm, burner] = [await cgroupOf('calm'), await cgroupOf('burner')];
    await untilGivesWay(burner);
    expect(turnsOf(calm)).toEqual(equal(512));
    // Those whom all of them wait for need no Pod that gives way.
    expect([engine.pid, agentPid()].map((pid) => getPriority(pid))).toEqual([FAR_AHEAD, AHEAD]);

    await signal(burner, 'SIGSTOP');
    await untilEqual(burner, 51);

    await signal(burner, 'SIGCONT');
    await untilGivesWay(burner);
    process.kill(agentPid(), 'SIGKILL');
    await signal(burner, 'SIGSTOP');
    await untilEqual(burner, 51);

    await signal(burner, 'SIGCONT');
    await untilGivesWay(burner);
    await user.close();
    await engine.kill();
    await untilEqual(burner, 51);
    await startUp();
    for (const name of ['calm', 'burner']) await user.client.resource(Pod, 'default').delete(name, { gracePeriodSeconds: 1 });
    await until(
      () => user.pods(),
      (pods) => pods.every(({ metadata }) => metadata.name !== 'burner' && metadata.name !== 'calm'),
    );
  });
});

describe('kill -9 of up', () => {
  test('leaves containers and their addresses; the next up takes them over', async () => {
    await user.createPod('loyal', { command: ['sh', '-c', `echo started; ${LOYAL}`] });
    const first = await until(() => user.pod('loyal'), isReady);
    await user.close();
    await engine.kill();
    await startUp();
    const text = await until(
      () => user.logs('loyal').catch(() => ''),
      (seen) => seen !== '',
    );
    expect(text).toBe('started\n');
    const second = await user.pod('loyal');
    expect(second!.status.podIP).toBe(first!.status.podIP);
    expect(second!.status.containerStatuses[0]).toMatchObject({ restartCount: 0, state: first!.status.containerStatuses[0].state });
  });
});

describe('a clean stop', () => {
  test('leaves no namespace, no rule, no mount', async () => {
    expect(traces()).not.toEqual([]);
    await user.close();
    await engine.stop();
    expect(traces()).toEqual([]);
    await startUp();
    await until(() => user.pod('loyal'), isReady, 60);
  });
});
