import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { GATEWAY_REPORT_LABEL } from '../../src/api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginInstallationKind } from '../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PublisherKind } from '../../src/api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { ConfigMap, Deployment, EndpointSlice, Namespace, NetworkPolicy, Pod, Secret } from '../../src/client/kinds.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { PluginWorld } from '../integration/plugins/plugin-world.ts';
import { connectTarget } from '../support/api-target.ts';
import { startControlPlane } from './control-plane.ts';
import { startControllerManager } from './controller-manager.ts';
import { startKubeScheduler } from './kube-scheduler.ts';
import { ProductProcesses } from './product-processes.ts';

const AUTHENTICATION = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration' };
const CONTROLLERS = ['deployment', 'replicaset', 'namespace', 'garbage-collector', 'resourcequota', 'serviceaccount', 'disruption'];

describe('plugins beside a real kube-apiserver, as processes', { timeout: 120_000 }, () => {
  let world: PluginWorld;
  let processes: ProductProcesses;
  let stopKubelet: (() => Promise<void>) | undefined;
  let authentication: string;
  let documents: string;
  let certificateAuthority: string;

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plugins-on-kubernetes-'));
    authentication = join(folder, 'authentication.yaml');
    writeFileSync(authentication, JSON.stringify({ ...AUTHENTICATION, jwt: [] }));
    const plane = await startControlPlane({ flags: [`--authentication-config=${authentication}`] });
    processes = new ProductProcesses(plane);
    const ends: (() => Promise<unknown>)[] = [() => plane.stop()];
    const { url, kubeconfig, ca, adminToken: token } = plane;
    certificateAuthority = ca;
    const target = connectTarget({
      name: 'kube-apiserver',
      url,
      kubeconfig,
      ca,
      token,
      async close() {
        await processes.stop();
        for (const end of ends.toReversed()) await end();
        rmSync(folder, { recursive: true });
      },
    });
    const registries = join(folder, 'registries.yaml');
    world = await PluginWorld.over(target, registries);
    await world.client.resource(Namespace).create({ metadata: { name: 'tenantry-system' } });
    const own = ['--namespace', 'tenantry-system'];
    processes.start('controller', '--area', 'tenancy,plugins', '--registries', registries, ...own);
    await world.tenants.eventually(() => world.tenants.find(() => world.client.resource(PublisherKind).list()));
    // It looks for new kinds to count only twice a minute.
    ends.push(await startControllerManager(plane, CONTROLLERS), await startKubeScheduler(plane));
    const port = 20_000 + (process.pid % 10_000);
    await processes.port(processes.start('admission', '--listen', `127.0.0.1:${port}`, '--url', `https://127.0.0.1:${port}`, ...own));
    documents = `https://127.0.0.1:${port}`;
    await world.publisher('acme', 'acme');
    await world.tenants.tenant('school', { owners: [{ kind: 'User', name: 'alice' }] });
    await world.tenants.node('worker');
    stopKubelet = world.tenants.playKubelet(['plugin-school-hello']);
  }, 120_000);
  afterAll(async () => {
    await stopKubelet?.();
    await world?.stop();
  }, 60_000);

  it('an installation becomes ACTIVE, in a namespace of the platform, by digest', async () => {
    const image = await world.version('acme', 'hello', '1.0.0');
    await world.install('school', 'hello', { version: '1.0.0' });
    const { status } = await world.phase('school', 'hello', 'ACTIVE');
    expect(status).toMatchObject({ namespace: 'plugin-school-hello', version: '1.0.0', image });
    const [deployments, policies] = await Promise.all([
      world.client.resource<KubeObject>(Deployment, 'plugin-school-hello').list(),
      world.client.resource<KubeObject>(NetworkPolicy, 'plugin-school-hello').list(),
    ]);
    expect(deployments.items.map(({ spec }) => spec.template.spec.containers[0].image)).toEqual([image]);
    expect(policies.items.length).toBeGreaterThan(0);
  });

  it('the owner of the tenant may read Pods there, and no Secrets', async () => {
    const alice = await world.tenants.as('alice');
    const pods = () =>
      alice
        .resource(Pod, 'plugin-school-hello')
        .list()
        .catch(() => undefined);
    expect((await world.tenants.eventually(pods)).items.length).toBeGreaterThan(0);
    await expect(alice.resource(Secret, 'plugin-school-hello').list()).rejects.toMatchObject({ code: 403 });
  });

  it('a Pod with an image that nobody verified is refused there, whoever makes it', async () => {
    const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    const resources = { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '10m', memory: '16Mi' } };
    const pod = {
      metadata: { name: 'stranger' },
      spec: {
        securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [{ name: 'x', image: 'example/x:1', securityContext, resources }],
      },
    };
    await expect(world.client.resource(Pod, 'plugin-school-hello').create(pod)).rejects.toThrow(
      'admission webhook "pods.plugins.tenantry.dev" denied the request',
    );
  });

  it('`tenantry gateway` leads to its Pods, with its own rights alone', async () => {
    const address = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)!.address;
    const server = createServer((request, response) => response.end(`${request.url} for ${String(request.headers['x-user-id'])}`));
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    const labels = { 'plugins.tenantry.dev/managed': 'workload', 'kubernetes.io/service-name': 'plugin-1-0-0' };
    await world.client.resource<KubeObject>(EndpointSlice, 'plugin-school-hello').create({
      metadata: { name: 'by-hand', labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ name: 'http', port: (server.address() as AddressInfo).port, protocol: 'TCP' }],
    });
    const gateway = processes.start('gateway', '--listen', '127.0.0.1:0');
    const url = `http://127.0.0.1:${await processes.port(gateway)}/school/hello/x`;
    const ask = (token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const answer = await ask(await world.token('plugin-school-hello'));
    expect([answer.status, await answer.text()]).toEqual([200, '/x for plugin:acme.hello']);
    expect((await ask('made-up')).status).toBe(401);
    const reports = await world.client.resource<KubeObject>(ConfigMap, 'tenantry-gateways').list({ labelSelector: GATEWAY_REPORT_LABEL });
    expect(reports.items.map(({ data }) => data)).toEqual([{ 'report.json': '{}' }]);
    server.closeAllConnections();
    server.close();
  });

  it('the token of a plugin is taken by kube-apiserver, as the guide configures it', async () => {
    const { data } = await world.client.resource<KubeObject>(Secret, 'tenantry-system').get('tenantry-admission');
    const [, example] = /```yaml\n(apiVersion: apiserver[\s\S]*?)```/.exec(readFileSync('docs/guide/plugins.md', 'utf8'))!;
    const configuration = parse(example) as KubeObject & { jwt: { issuer: object }[] };
    const discoveryURL = `${documents}/plugins/.well-known/openid-configuration`;
    Object.assign(configuration.jwt[0].issuer, { discoveryURL, certificateAuthority: Buffer.from(data['ca.crt'], 'base64').toString() });
    writeFileSync(authentication, JSON.stringify(configuration));
    const { url, kubeconfig } = world.target;
    const token = await world.token('plugin-school-hello');
    const plugin = connectTarget({ name: 'plugin', url, kubeconfig, ca: certificateAuthority, token, close: () => Promise.resolve() });
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const review = await world.tenants.eventually(async () => {
      const answer = await plugin.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', body);
      return answer.status === 201 ? answer.body : undefined;
    });
    expect(review.status.userInfo).toMatchObject({
      username: 'plugin:hello:school',
      groups: ['tenantry:plugins', 'tenantry:plugins:school', 'system:authenticated'],
    });
    expect((await plugin.request('GET', '/api/v1/namespaces/plugin-school-hello/secrets')).status).toBe(403);
    await plugin.close();
  });

  it('an uninstall leaves nothing', async () => {
    await world.client.resource(Secret, 'plugin-school-hello').get('plugin-token');
    await world.client.resource(PluginInstallationKind, 'school').delete('hello');
    expect(await world.tenants.eventually(async () => (await world.find('plugin-school-hello')) === undefined)).toBe(true);
  });
});
