import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunKind, type Run } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../src/api/kruntimes.io/v1alpha1/runtime.ts';
import { connectPeer } from '../../src/areas/runs/servers/conformance/peer.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { Pod, Secret } from '../../src/client/kinds.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import { GitServer } from '../support/git-server.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { nodeTools } from './node-tools.ts';

const SECRET = 'hunter2-of-another';

class Instance {
  readonly data = mkdtempSync(join(tmpdir(), 'tenantry-isolation-'));
  engine!: SpawnedEngine;
  client!: Client;

  async start(...args: string[]): Promise<this> {
    this.engine = await spawnEngine(this.data, { args });
    this.client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: join(this.data, 'kubeconfig') }))));
    return this;
  }

  get runs() {
    return this.client.resource(RunKind, 'default');
  }

  async runtime(name: string, spec: object): Promise<void> {
    const template = { spec: { containers: [{ name: 'runtime', image: 'tenantry.dev/runtime-bash', resources: {} }] } };
    await this.client.resource(RuntimeKind, 'default').create({ metadata: { name }, spec: { template, replicas: 1, ...spec } });
  }

  submit(runtime: string, script: string, env: Record<string, string> = {}): Promise<Run> {
    const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
    const spec = { runtime, mode: { task: {} }, source: { inline: script }, env: variables };
    return this.runs.create({ metadata: { generateName: 'r-' }, spec });
  }

  async end(run: Run): Promise<Run> {
    return this.#until(run, ({ status }) => status?.completionTime !== undefined);
  }

  async running(run: Run): Promise<void> {
    await this.#until(run, ({ status }) => status?.phase === 'Running');
  }

  async #until(run: Run, holds: (run: Run) => boolean): Promise<Run> {
    for (let tries = 0; tries < 1000; tries++) {
      const now = await this.runs.get(run.metadata.name!);
      if (holds(now)) return now;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`Run ${run.metadata.name}: ${JSON.stringify(await this.runs.get(run.metadata.name!))}`);
  }

  async outputOf(runtime: string, script: string): Promise<string> {
    const { status } = await this.end(await this.submit(runtime, script));
    expect(status).toMatchObject({ phase: 'Succeeded' });
    return status?.log?.text ?? '';
  }

  async podOf(runtime: string) {
    const { items } = await this.client.resource(Pod, 'default').list({ labelSelector: `runtime=${runtime}` });
    return items[0].status as { podIP: string; hostIP: string };
  }

  async stop(): Promise<void> {
    await this.engine.stop();
    rmSync(this.data, { recursive: true, force: true });
  }
}

describe('Runs of a built-in Runtime, in a Pod of an OCI runtime', () => {
  let instance: Instance;
  let loopback: Server;
  let victim: Run;
  beforeAll(async () => {
    await nodeTools('runc', 'bwrap', 'nft', 'ip');
    loopback = createServer((socket) => socket.on('error', () => {}).end('here')).listen(0, '0.0.0.0');
    instance = await new Instance().start();
    await instance.runtime('online', { isolation: 'process', network: 'Pod' });
    victim = await instance.submit('bash', `echo ${SECRET} > secret; echo ready; sleep 600`, { PASSWORD: SECRET });
    await instance.running(victim);
  });
  afterAll(async () => {
    loopback?.close();
    await instance?.stop();
  });

  it('are kept apart by process, and the Runtime says so', async () => {
    const { status } = await instance.client.resource(RuntimeKind, 'default').get('bash');
    expect(findCondition(status?.conditions, 'IsolationAvailable')).toMatchObject({
      status: 'True',
      message: 'Runs get isolation "process"',
    });
    const text = await instance.outputOf('bash', 'id -u; grep -E "^(CapBnd|NoNewPrivs|Seccomp):" /proc/self/status; cat /proc/self/cgroup');
    expect(Number(text.split('\n')[0])).toBeGreaterThan(65_536);
    expect(text).toMatch(/CapBnd:\s+0{16}\n/);
    expect(text).toMatch(/run-\d+-\d+/);
  });

  it('see nothing of each other, of the Runtime Server, of runtimed and its token', async () => {
    const text = await instance.outputOf(
      'bash',
      `ls -A /workspace | wc -l
      cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c -e ${SECRET} -e POD_IP -e KUBERNETES
      grep -rls -e ${SECRET} / --exclude-dir=usr --exclude-dir=proc --exclude=script
      ls /var/run/secrets /run/secrets /workspace/.slots /workspace/.runtime-key 2>/dev/null
      find / -xdev -name token -not -path '/usr/*' 2>/dev/null
      echo end`,
    );
    expect(text).toBe('1\n0\nend\n');
  });

  it('reach no network: not the Pod, the machine, the API server', async () => {
    const pod = await instance.podOf('bash');
    const api = new URL(instance.engine.target.url);
    const { port } = loopback.address() as { port: number };
    const targets = [
      [pod.podIP, 9091],
      [pod.podIP, 9093],
      [pod.podIP, 9094],
      [pod.hostIP, port],
      ['127.0.0.1', 9091],
      ['127.0.0.1', port],
      ['127.0.0.1', Number(api.port)],
      ['10.0.0.1', 443],
      ['10.96.0.1', 443],
    ];
    const text = await instance.outputOf(
      'bash',
      `${targets.map(([host, number]) => `(exec 5<>/dev/tcp/${host}/${number}) 2>/dev/null && echo reached ${host}:${number}`).join('\n')}\necho end`,
    );
    expect(text).toBe('end\n');
  });

  it('that may reach the network have no say there', async () => {
    const text = await instance.outputOf(
      'online',
      `ip=$(grep -v -e localhost -e '^fe' -e '^ff' /etc/hosts | tail -1 | cut -f1)
      (exec 5<>/dev/tcp/$ip/9091) && echo port is open
      exec 5<>/dev/tcp/$ip/9094; printf 'GET /drained HTTP/1.0\\r\\n\\r\\n' >&5; head -1 <&5
      cat /proc/net/dev | grep -c eth0`,
    );
    expect(text).toContain('port is open\n');
    // Asked to drain by a Run, the Pod goes on.
    expect(await instance.outputOf('online', 'echo still here')).toBe('still here\n');
    const pod = await instance.podOf('online');
    const stranger = connectPeer(`${pod.podIP}:9091`, undefined);
    for (const method of ['execute', 'list', 'status', 'cancel', 'forget'])
      expect(await stranger.codeOf(method, { id: 'x' })).toBe('UNAUTHENTICATED');
    stranger.close();
  });

  it('end with everything they started', async () => {
    await instance.outputOf('bash', 'setsid nohup sleep 777777.5 > /dev/null 2>&1 & sleep 0.1; echo started');
    const { stdout } = spawnSync('pgrep', ['-xf', 'sleep 777777.5'], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });

  it('leave no zombies in a Pod where they are shared', async () => {
    await instance.runtime('open', { isolation: 'shared' });
    for (let count = 0; count < 3; count++) await instance.outputOf('open', 'sleep 666666.5 & (setsid true &); sleep 0.1');
    await expect.poll(() => instance.outputOf('open', 'grep -l "^State:.Z" /proc/[0-9]*/status | wc -l')).toBe('0\n');
  });

  it('leave their folders to nobody', async () => {
    await instance.outputOf('bash', 'mkdir -p a/b; echo x > a/b/c; chmod 000 a; ln -s / link; ln -s /etc/shadow outputs2');
    await instance.runs.patch(victim.metadata.name!, { type: 'merge', patch: { spec: { cancelRequested: true } } });
    expect((await instance.end(victim)).status?.phase).toBe('Cancelled');
    await expect.poll(() => instance.outputOf('bash', 'ls -A /workspace | wc -l')).toBe('1\n');
  });

  it('are held to the limits of their Runtime, and say when memory was not enough', async () => {
    await instance.runtime('small', { isolation: 'process', limits: { memory: '64Mi', cpu: '1500m', pids: 40 } });
    expect(await instance.outputOf('small', 'x=$(head -c 8M /dev/zero | tr "\\0" x); echo ${#x}')).toBe(`${8 << 20}\n`);
    const { status } = await instance.end(await instance.submit('small', 'x=$(head -c 200M /dev/zero | tr "\\0" x); echo ${#x}'));
    expect(status).toMatchObject({
      phase: 'Failed',
      exitCode: 137,
      message: expect.stringMatching(/^out of memory: .* \(exit status 137\)$/),
    });
    expect(findCondition(status?.conditions, 'Completed')?.reason).toBe('OOMKilled');
    // What the kernel counted for one Run is not told of the next in its cgroup.
    const next = await Promise.all(Array.from({ length: 6 }, async () => instance.end(await instance.submit('small', 'exit 137'))));
    expect(next.map(({ status: { message } = {} }) => message)).toEqual(Array.from({ length: 6 }, () => 'exit status 137'));
    const runtime = await instance.client.resource(RuntimeKind, 'default').get('small');
    expect(findCondition(runtime.status?.conditions, 'LimitsAvailable')).toMatchObject({ status: 'True' });
  });

  it('whose outputs lead to files of others fail, and read nothing', async () => {
    const run = await instance.submit('bash', 'ln -s /var/run/secrets/kubernetes.io/serviceaccount/token outputs');
    expect((await instance.end(run)).status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('cannot be read (ELOOP)') });
  });
});

describe('Runs of Pods that are processes of root', () => {
  let instance: Instance;
  beforeAll(async () => {
    await nodeTools('bwrap');
    instance = await new Instance().start('--node', 'process');
  });
  afterAll(() => instance?.stop());

  it('are shared in built-in Runtimes, and the Runtime says why', async () => {
    expect(await instance.outputOf('bash', 'echo hi')).toBe('hi\n');
    const { status } = await instance.client.resource(RuntimeKind, 'default').get('bash');
    expect(findCondition(status?.conditions, 'IsolationAvailable')?.message).toContain(
      '"process" cannot be given here: as root, Pods need an OCI runtime',
    );
  });

  it('fail where process isolation was asked for, never with less', async () => {
    await instance.runtime('strict', { isolation: 'process' });
    const { status } = await instance.end(await instance.submit('strict', 'echo hi'));
    expect(status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('isolation "process" cannot be given') });
    expect(findCondition(status?.conditions, 'Completed')?.reason).toBe('IsolationUnavailable');
  });

  it('come from repositories, which their Pod keeps', async () => {
    await nodeTools('git');
    const server = await GitServer.start((await instance.podOf('bash')).hostIP);
    const commit = server.commit({ 'bin/check.sh': 'echo from the repository' });
    await instance.client.resource(Secret, 'default').create({ metadata: { name: 'git' }, stringData: { 'ca.crt': server.ca } });
    const { url: repoURL } = server;
    const run = async (commitSHA?: string) => {
      const source = { repoURL, commitSHA, credentialsSecretName: 'git' };
      const spec = { runtime: 'bash', mode: { task: { entrypoint: 'bin/check.sh' } }, source };
      return (await instance.end(await instance.runs.create({ metadata: { generateName: 'git-' }, spec }))).status;
    };
    try {
      expect(await run()).toMatchObject({ phase: 'Succeeded', log: { text: 'from the repository\n' } });
    } finally {
      await server.stop();
    }
    expect(await run(commit)).toMatchObject({ phase: 'Succeeded', log: { text: 'from the repository\n' } });
    expect(await run('v2')).toMatchObject({ phase: 'Failed', message: expect.stringMatching(/^prepare source: git clone: /) });
  });

  it('fail where limits were asked for that cannot be given', async () => {
    await instance.runtime('small', { limits: { memory: '64Mi' } });
    const { status } = await instance.end(await instance.submit('small', 'echo hi'));
    expect(status).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('limits per Run cannot be given: isolation "shared" has none'),
    });
    expect(findCondition(status?.conditions, 'Completed')?.reason).toBe('LimitsUnavailable');
  });

  it('fail where the server knows no limits, before it is started', async () => {
    const template = { spec: { containers: [{ name: 'runtime', image: 'example.com/other' }] } };
    await instance.runtime('other', { template, limits: { pids: 8 } });
    const { status } = await instance.end(await instance.submit('other', 'echo hi'));
    expect(status).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('"example.com/other"; give its server limits of its own'),
    });
    const runtime = await instance.client.resource(RuntimeKind, 'default').get('other');
    expect(findCondition(runtime.status?.conditions, 'LimitsAvailable')).toMatchObject({ status: 'False', reason: 'LimitsUnavailable' });
    const { items } = await instance.client.resource(Pod, 'default').list({ labelSelector: 'runtime=other' });
    expect(items).toEqual([]);
  });
});
