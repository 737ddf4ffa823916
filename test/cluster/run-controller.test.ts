import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunKind, type Run } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../src/api/kruntimes.io/v1alpha1/runtime.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { Lease, Namespace, Pod, ServiceAccount } from '../../src/client/kinds.ts';
import { isConditionTrue } from '../../src/kube/conditions.ts';
import { type } from '../e2e/command.ts';
import { until } from '../support/node-client.ts';
import { startControllerManager } from './controller-manager.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { RunPodProcesses, tokenOf } from './run-pod-processes.ts';

/** `tenantry controller` as a process. */
class ControllerProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  text = '';

  constructor(kubeconfig: string, ...args: string[]) {
    const flags = ['controller', '--kubeconfig', kubeconfig, '--bind-address', '127.0.0.1:0', ...args];
    this.child = spawn(process.execPath, ['bin/tenantry', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr]) stream!.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
    this.ended = new Promise((resolve) => void this.child.once('exit', (code) => resolve(code)));
  }

  async ask(path: string): Promise<{ status: number; text: string }> {
    const port = /127\.0\.0\.1:(\d+)\/metrics/.exec(this.text)?.[1];
    if (port === undefined) return { status: 0, text: this.text };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  }

  says(text: string): Promise<unknown> {
    return until(
      () => this.ask('/readyz'),
      (answer) => answer.text.includes(text),
      60,
    );
  }
}

describe('the controllers on a real kube-apiserver', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-run-controller-'));
  let plane: ControlPlane;
  let client: Client;
  let endManager: () => Promise<void>;
  let pod: RunPodProcesses;
  const controllers: ControllerProcess[] = [];
  const runs = () => client.resource(RunKind, 'team');
  const krt = (...args: string[]) =>
    type(process.execPath, ['bin/krt', '--kubeconfig', plane.kubeconfig, '-n', 'team', ...args], { HOME: folder }, 60_000);
  function controller(kubeconfig: string, ...args: string[]): ControllerProcess {
    const started = new ControllerProcess(kubeconfig, '--runtimed-image', 'example/runtimed:1', ...args);
    controllers.push(started);
    return started;
  }

  beforeAll(async () => {
    plane = await startControlPlane();
    client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
    endManager = await startControllerManager(plane, ['deployment', 'replicaset', 'serviceaccount', 'garbage-collector']);
  });
  afterAll(async () => {
    for (const { child } of controllers) child.kill('SIGKILL');
    await pod?.stop();
    await endManager?.();
    await client?.close();
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are installed by the first, and no built-in Runtimes with them', async () => {
    await controller(plane.kubeconfig).says('runs: leading');
    expect((await client.resource(RuntimeKind).list()).items).toEqual([]);
    expect((await client.resource(Lease, 'kube-system').get('tenantry-runs')).spec?.holderIdentity).toBeTruthy();
    expect((await controllers[0].ask('/healthz')).text).toBe('ok\n');
    expect((await controllers[0].ask('/metrics')).text).toContain('kruntimes_scheduler_sync_total');
  });

  it('are taken over, as soon as they stop, by one that has the rights of its account and no more', async () => {
    const accounts = client.resource(ServiceAccount, 'kube-system');
    await accounts.create({ metadata: { name: 'tenantry-runs' } });
    const token = await tokenOf(client, 'kube-system', 'tenantry-runs');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: plane.url, 'certificate-authority-data': Buffer.from(plane.ca).toString('base64') } }],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(config), { mode: 0o600 });
    const second = controller(join(folder, 'kubeconfig'), '--no-install', '--area', 'runs');
    await second.says('runs: standing by');
    expect((await second.ask('/readyz')).status).toBe(200);
    controllers[0].child.kill('SIGTERM');
    expect(await controllers[0].ended).toBe(0);
    await second.says('runs: leading');
  });

  it('make a Runtime Pod that Kubernetes takes as it is', async () => {
    await client.resource(Namespace).create({ metadata: { name: 'team' } });
    const template = { spec: { containers: [{ name: 'runtime', image: 'tenantry.dev/runtime-bash' }] } };
    await client
      .resource(RuntimeKind, 'team')
      .create({ metadata: { name: 'bash' }, spec: { template, capacity: { resources: { runs: 4 } } } });
    const [made] = await until(
      async () => (await client.resource(Pod, 'team').list({ labelSelector: 'runtime=bash' })).items,
      (pods) => pods.length > 0,
    );
    expect(made.spec).toMatchObject({ serviceAccountName: 'kruntimes-runtimed', automountServiceAccountToken: false });
    pod = new RunPodProcesses(client, plane, made, '127.83.7.1');
    await pod.start();
    await until(
      () => client.resource(Pod, 'team').get(made.metadata.name!),
      ({ status }) => isConditionTrue(status?.conditions, 'kruntimes.io/RuntimedReady'),
    );
  });

  it('bring Runs to their end, as krt sees it', async () => {
    const { code, stdout, stderr } = await krt(
      'run',
      '--follow',
      '--name',
      'first',
      '--',
      'echo "a=b" > $KRUNTIME_OUTPUTS; echo from a real cluster',
    );
    expect([code, stdout]).toEqual([0, 'from a real cluster\n']);
    expect(stderr).toContain('Run first created');
    const { status } = await runs().get('first');
    expect(status).toMatchObject({ phase: 'Succeeded', outputs: { a: 'b' }, exitCode: 0, attempt: 1 });
    expect((await krt('run', '--wait', '--', 'exit 7')).code).toBe(7);
    expect((await krt('logs', 'first')).stdout).toBe('from a real cluster\n');
    expect((await krt('list')).stdout).toMatch(/^first\s.*Succeeded/m);
  });

  it('lose no Run when runtimed, then the Runtime Server, are killed', async () => {
    const said = (text: string) =>
      until(
        () => pod.said.join(''),
        (all) => all.includes(`"message":"${text}"`),
      );
    await krt('run', '--name', 'survivor', '--', 'echo up; sleep 2; echo lived');
    await said('up');
    await pod.kill('runtimed');
    pod.startContainer('runtimed');
    expect((await krt('wait', 'survivor')).code).toBe(0);
    expect((await runs().get('survivor')).status).toMatchObject({ phase: 'Succeeded', attempt: 1, log: { text: 'up\nlived\n' } });

    await krt(
      'run',
      '--name',
      'again',
      '--retry-attempts',
      '2',
      '--retry-backoff',
      '10ms',
      '--',
      'test -e seen && exit 0; touch seen; echo seen; sleep 60',
    );
    await said('seen');
    await pod.kill('runtime');
    pod.startContainer('runtime');
    expect((await krt('wait', 'again')).code).toBe(0);
    expect((await runs().get('again')).status).toMatchObject({ phase: 'Succeeded', attempt: 2 });
  });

  it('clean up after a Pod that is gone, within the retry policy', async () => {
    await krt('run', '--name', 'orphan', '--', 'sleep 60');
    await until(
      () => runs().get('orphan'),
      ({ status }) => status?.phase === 'Running',
    );
    await pod.stop();
    const { status } = await runs().get('orphan');
    await client.resource(Pod, 'team').delete(status!.assignedPod!, { gracePeriodSeconds: 0 });
    const ended = await until(
      () => runs().get('orphan'),
      (run: Run) => run.status?.completionTime !== undefined,
    );
    expect(ended.status).toMatchObject({ phase: 'Failed', message: 'assigned pod was deleted' });
  });
});
