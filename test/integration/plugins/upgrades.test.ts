import { Agent, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PluginInstallationKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PluginPolicyKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';
import { startGateway, type RunningGateway } from '../../../src/areas/plugins/gateway/start-gateway.ts';
import { Deployment, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../../src/client/kinds.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { PluginWorld } from './plugin-world.ts';
import { ServingPods, type Behaviour } from './serving-pods.ts';

/** Requests that end when the test says so. */
let release!: () => void;
const held = new Promise<void>((resolve) => (release = resolve));

/** Answers with its version; what ends in a letter is broken in the way of that letter. */
function behaviourOf(version: string): Behaviour {
  const broken = /-(\w+)\.\d+$/.exec(version)?.[1];
  return {
    serve(request, response) {
      const answer = () => response.writeHead(broken === 'failing' ? 500 : 200).end(version);
      if (request.url === '/held') void held.then(answer);
      else setTimeout(answer, request.url === '/slow' ? 1_500 : 0);
    },
    isUnready: broken === 'crashing' || broken === 'dead',
    restarts: broken === 'crashing' ? 5 : 0,
  };
}

interface Load {
  answers: { status: number; version: string }[];
  failures: string[];
  stop(): Promise<void>;
}

describe('an upgrade', { timeout: 90_000 }, () => {
  let world: PluginWorld;
  let pods: ServingPods;
  let gateway: RunningGateway;
  let port: number;
  const agent = new Agent({ keepAlive: true });

  beforeAll(async () => {
    world = await PluginWorld.start();
    await world.publisher('acme', 'acme');
    await world.tenants.tenant('school');
    await world.tenants.node('worker');
    pods = new ServingPods(world.client, behaviourOf);
    gateway = await startGateway({
      client: await world.gatewayClient(),
      clock: realClock,
      log: silentLog,
      metrics: new MetricsRegistry(),
      instance: 'test',
    });
    port = await gateway.listen('127.0.0.1', 0);
  }, 60_000);
  afterAll(async () => {
    agent.destroy();
    await gateway?.stop();
    await pods?.stop();
    await world?.stop();
  }, 60_000);

  const ask = (plugin: string, token: string, path = '/'): Promise<{ status: number; version: string }> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      const request = httpRequest({ host: '127.0.0.1', port, path: `/school/${plugin}${path}`, headers, agent }, (response) => {
        let version = '';
        response.on('data', (chunk: Buffer) => (version += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode!, version }));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end();
    });

  /** Requests all the time, some of them slow. */
  function load(plugin: string): Load {
    const stop = new AbortController();
    const answers: Load['answers'] = [];
    const failures: string[] = [];
    const run = async (path: string): Promise<void> => {
      while (!stop.signal.aborted) {
        try {
          const token = await world.token(`plugin-school-${plugin}`);
          const answer = await ask(plugin, token, path);
          answers.push(answer);
          if (answer.status !== 200) failures.push(`${answer.status} ${answer.version}`);
        } catch (error) {
          failures.push(String(error));
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const running = ['/', '/', '/', '/slow'].map(run);
    return {
      answers,
      failures,
      async stop() {
        stop.abort();
        await Promise.all(running);
      },
    };
  }

  const install = async (plugin: string): Promise<void> => {
    await world.version('acme', plugin, '1.0.0');
    await world.install('school', plugin, { version: '1.0.0' });
    await world.phase('school', plugin, 'ACTIVE');
  };
  const deployments = async (plugin: string): Promise<string[]> =>
    (await world.client.resource<KubeObject>(Deployment, `plugin-school-${plugin}`).list()).items
      .map(({ metadata }) => metadata.name!)
      .sort((a, b) => a.localeCompare(b));

  it.each(['rolling', 'blueGreen'])('by %s and the rollback of it lose no request', async (strategy) => {
    const plugin = strategy.toLowerCase();
    await install(plugin);
    await world.version('acme', plugin, '1.1.0', { runtime: { upgrade: { strategy: strategy as never } } });
    const requests = load(plugin);
    await world.patch('school', plugin, { version: '1.1.0' });
    await world.until('school', plugin, ({ status }) => status?.phase === 'ACTIVE' && status.version === '1.1.0');
    expect(await deployments(plugin)).toEqual(['plugin-1-1-0']);
    await world.tenants.eventually(() => Promise.resolve(requests.answers.at(-1)?.version === '1.1.0'));
    await world.patch('school', plugin, { rollback: { request: 1 } });
    await world.phase('school', plugin, 'ROLLED_BACK');
    expect(await deployments(plugin)).toEqual(['plugin-1-0-0']);
    await requests.stop();
    expect(requests.failures).toEqual([]);
    expect(new Set(requests.answers.map(({ version }) => version))).toEqual(new Set(['1.0.0', '1.1.0']));
    // Going from ACTIVE to UPGRADING twice is one Event with a count.
    await expect
      .poll(() => world.transitions('school', plugin), { timeout: 10_000 })
      .toEqual(['NEW -> INSTALLING', 'INSTALLING -> ACTIVE', 'ACTIVE -> UPGRADING', 'UPGRADING -> ACTIVE', 'UPGRADING -> ROLLED_BACK']);
  });

  it('by canary gives the new version its share, until somebody goes back in the middle of it', async () => {
    await install('canary');
    const canarySteps = [{ weight: 30, pauseSeconds: 3600 }, { weight: 100 }];
    await world.version('acme', 'canary', '1.1.0', { runtime: { upgrade: { strategy: 'canary', canarySteps } } });
    await world.patch('school', 'canary', { version: '1.1.0' });
    const at30 = await world.until('school', 'canary', ({ status }) => status?.target?.weight === 30);
    expect(at30.status!.gateway!.routes!.map(({ version, weight }) => [version, weight])).toEqual([
      ['1.0.0', 70],
      ['1.1.0', 30],
    ]);
    expect(await deployments('canary')).toEqual(['plugin-1-0-0', 'plugin-1-1-0']);
    const token = await world.token('plugin-school-canary');
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask('canary', token)));
    const share = answers.filter(({ version }) => version === '1.1.0').length / answers.length;
    expect(share).toBeGreaterThan(0.1);
    expect(share).toBeLessThan(0.5);
    await world.patch('school', 'canary', { rollback: { request: 1 } });
    expect((await world.phase('school', 'canary', 'ROLLED_BACK')).status).toMatchObject({ version: '1.0.0', target: { weight: 100 } });
    expect(await deployments('canary')).toEqual(['plugin-1-0-0']);
  });

  it('begins with the share of the tenant’s policy', async () => {
    await install('policed');
    const spec = { mode: 'canary' as const, plugins: ['policed'], canaryPercent: 7, canaryPauseSeconds: 3600 };
    await world.client.resource(PluginPolicyKind, 'school').create({ metadata: { name: 'careful' }, spec });
    await world.version('acme', 'policed', '1.1.0');
    const { status } = await world.until('school', 'policed', (each) => each.status?.target?.weight === 7);
    expect(status).toMatchObject({ phase: 'UPGRADING', version: '1.0.0', target: { version: '1.1.0', step: 0 } });
    // Somebody is in a hurry: the pause ends with the policy.
    await world.client.resource(PluginPolicyKind, 'school').delete('careful');
    await world.until('school', 'policed', (each) => each.status?.phase === 'ACTIVE' && each.status.version === '1.1.0');
  });

  it.each<[string, string, string]>([
    ['its requests fail', 'failing', 'ErrorRateExceeded'],
    ['its container is started again and again', 'crashing', 'CrashLooping'],
  ])('is taken back when %s, and tried again only when asked', async (_, broken, reason) => {
    await install(broken);
    const bad = `1.1.0-${broken}.1`;
    await world.version('acme', broken, bad);
    const requests = load(broken);
    await world.patch('school', broken, { version: bad });
    const { status } = await world.phase('school', broken, 'ROLLED_BACK');
    expect(status).toMatchObject({ version: '1.0.0', reason, rejected: { version: bad, reason }, target: { version: '1.0.0' } });
    expect(status!.message).toContain(`${bad} was taken back`);
    expect(await deployments(broken)).toEqual(['plugin-1-0-0']);
    await world.client.resource(PluginInstallationKind, 'school').patch(broken, {
      type: 'merge',
      patch: { metadata: { annotations: { 'plugins.tenantry.dev/retry': '1' } } },
    });
    await world.until('school', broken, (each) => each.status?.observedRetry === '1' && each.status.target?.version === bad);
    await world.phase('school', broken, 'ROLLED_BACK');
    await requests.stop();
    expect(requests.failures.filter((each) => !each.startsWith('500'))).toEqual([]);
    await world.patch('school', broken, { version: '1.0.0' });
    const after = await world.phase('school', broken, 'ACTIVE');
    expect(after.status!.rejected).toBeUndefined();
  });

  it('is taken back when admission denies its Pods, and the old version never stops', async () => {
    await install('denied');
    await world.version('acme', 'denied', '1.1.0');
    const requests = load('denied');
    const name = 'no-new-versions';
    await world.client.resource<KubeObject>(ValidatingAdmissionPolicy).create({
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }] },
        validations: [{ expression: "object.metadata.labels['plugins.tenantry.dev/version'] != '1.1.0'", message: 'not this one' }],
        matchConditions: [{ name: 'plugin', expression: "object.metadata.namespace == 'plugin-school-denied'" }],
      },
    });
    await world.client
      .resource<KubeObject>(ValidatingAdmissionPolicyBinding)
      .create({ metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } });
    await world.patch('school', 'denied', { version: '1.1.0' });
    const { status } = await world.phase('school', 'denied', 'ROLLED_BACK');
    expect(status).toMatchObject({ version: '1.0.0', reason: 'AdmissionDenied', message: expect.stringContaining('not this one') });
    await requests.stop();
    expect(requests.failures).toEqual([]);
  });

  it('waits for requests under way before the old version goes', async () => {
    await install('slow');
    await world.version('acme', 'slow', '1.1.0');
    const token = await world.token('plugin-school-slow');
    let isOver = false;
    await world.patch('school', 'slow', { version: '1.1.0' });
    await world.until('school', 'slow', ({ status }) => status?.target?.weight === 50);
    const slow = Promise.all(Array.from({ length: 20 }, () => ask('slow', token, '/held'))).then((answers) => ((isOver = true), answers));
    await world.until('school', 'slow', (each) => each.status?.message?.includes('1.0.0 are still under way') === true);
    expect(isOver).toBe(false);
    release();
    const { status } = await world.until('school', 'slow', (each) => each.status?.gateway?.routes?.length === 1);
    expect(isOver).toBe(true);
    expect(status!.gateway!.routes![0].version).toBe('1.1.0');
    expect(new Set((await slow).map((answer) => answer.status))).toEqual(new Set([200]));
  });
});
