import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { CrossTenantAttemptKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import { PluginInstallationKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { startGateway, type RunningGateway } from '../../../src/areas/plugins/gateway/start-gateway.ts';
import type { Client } from '../../../src/client/client.ts';
import { ConfigMap, Pod, RoleBinding, ServiceAccount } from '../../../src/client/kinds.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { PluginWorld } from './plugin-world.ts';
import { ServingPods, type Behaviour } from './serving-pods.ts';

const sockets = new WebSocketServer({ noServer: true });

/** Tells what it was asked, or does as its path says. */
const behaviour: Behaviour = {
  serve(request, response) {
    const { pathname, searchParams } = new URL(request.url!, 'http://x');
    if (pathname === '/fail') return void response.writeHead(500).end('oops');
    if (pathname === '/cut') return void request.socket.destroy();
    if (pathname === '/half') {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => response.destroy());
      return;
    }
    if (pathname === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'set-cookie': 'a=b', connection: 'keep-alive, x-own', 'x-own': '1' });
      response.write('data: one\n\n');
      setTimeout(() => response.end('data: two\n\n'), Number(searchParams.get('ms') ?? 50));
      return;
    }
    void text(request).then((body) => {
      const { method, url, rawHeaders } = request;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ method, url, rawHeaders, body }));
    });
  },
  upgrade(request, socket, head) {
    sockets.handleUpgrade(request, socket, head, (client) =>
      client.on('message', (message) => client.send(Buffer.concat([Buffer.from('echo '), message as Buffer]))),
    );
  },
};

describe('the plugin gateway', { timeout: 60_000 }, () => {
  let world: PluginWorld;
  let pods: ServingPods;
  let gateway: RunningGateway;
  let gatewayClient: Client;
  let port: number;
  const metrics = new MetricsRegistry();
  const agent = new Agent({ keepAlive: true });
  let token: string;

  beforeAll(async () => {
    world = await PluginWorld.start();
    await world.publisher('acme', 'acme');
    await Promise.all([world.tenants.tenant('school', { owners: [{ kind: 'User', name: 'alice' }] }), world.tenants.tenant('rival')]);
    await world.tenants.node('worker');
    pods = new ServingPods(world.client, () => behaviour);
    gatewayClient = await world.gatewayClient();
    gateway = await startGateway({ client: gatewayClient, clock: realClock, log: silentLog, metrics, instance: 'test' });
    port = await gateway.listen('127.0.0.1', 0);
    const permissions = ['plugin.read', 'plugin.write'];
    await world.version('acme', 'hello', '1.0.0', { permissions, llm: { gatewayBudget: 5000 } });
    await world.version('acme', 'friend', '1.0.0', { permissions: ['plugin.read'] });
    await world.version('acme', 'limited', '1.0.0', {
      permissions,
      runtime: { requestRate: { perTenant: '3/minute', perUser: '2/minute' } },
    });
    const installed = [
      ['school', 'hello'],
      ['school', 'friend'],
      ['school', 'limited'],
      ['rival', 'hello'],
    ];
    for (const [tenant, plugin] of installed) await world.install(tenant, plugin, { version: '1.0.0' });
    for (const [tenant, plugin] of installed) await world.phase(tenant, plugin, 'ACTIVE');
    token = await world.token('plugin-school-hello');
  }, 60_000);
  afterAll(async () => {
    agent.destroy();
    await gateway?.stop();
    await pods?.stop();
    await world?.stop();
  }, 60_000);

  interface Asked {
    method?: string;
    headers?: Record<string, string>;
    body?: string;
    as?: string;
  }
  const ask = (path: string, { method = 'GET', headers = {}, body, as = token }: Asked = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const given = { ...(as === '' ? {} : { authorization: `Bearer ${as}` }), ...headers };
      const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: given, agent }, resolve);
      request.on('error', reject);
      request.end(body);
    });
  const asked = async (path: string, given?: Asked) => {
    const response = await ask(path, given);
    const answer = await text(response);
    return { status: response.statusCode!, headers: response.headers, answer: answer.startsWith('{') ? JSON.parse(answer) : answer };
  };
  const headersIn = (raw: string[]) =>
    Object.fromEntries(Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i].toLowerCase(), raw[2 * i + 1]]));

  it('passes a request on without its prefix, with the caller’s names and none that were forged', async () => {
    const correlation = randomUUID();
    const headers = { 'x-tenant-id': 'rival', 'X-User-Id': 'root', cookie: 'a=b', 'x-correlation-id': correlation, 'x-mine': 'yes' };
    const { status, answer, headers: back } = await asked('/school/hello/a/b?c=d', { method: 'POST', headers, body: 'hi' });
    expect(status).toBe(200);
    expect(answer).toMatchObject({ method: 'POST', url: '/a/b?c=d', body: 'hi' });
    const seen = headersIn(answer.rawHeaders);
    expect(seen).toMatchObject({
      'x-tenant-id': 'school',
      'x-user-id': 'plugin:acme.hello',
      'x-correlation-id': correlation,
      'x-forwarded-prefix': '/school/hello',
      'x-mine': 'yes',
    });
    expect(Object.keys(seen)).not.toContain('authorization');
    expect(Object.keys(seen)).not.toContain('cookie');
    expect(back['x-correlation-id']).toBe(correlation);
  });

  it('passes streams on as they come, without cookies and what is between neighbours', async () => {
    const response = await ask('/school/hello/events?ms=300');
    expect(response.headers['set-cookie']).toBeUndefined();
    expect(response.headers['x-own']).toBeUndefined();
    const started = performance.now();
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(String(first)).toBe('data: one\n\n');
    expect(performance.now() - started).toBeLessThan(290);
    expect(await text(response)).toBe('data: two\n\n');
  });

  it('passes large bodies on both ways', async () => {
    const body = 'x'.repeat(3_000_000);
    const { answer } = await asked('/school/hello/', { method: 'PUT', body, headers: { 'transfer-encoding': 'chunked' } });
    expect(answer.body).toHaveLength(body.length);
  });

  it('passes WebSockets on, and refuses them as it refuses requests', async () => {
    const open = (path: string) => new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
    const socket = open('/school/hello/ws');
    await once(socket, 'open');
    socket.send('hi');
    const [message] = (await once(socket, 'message')) as [Buffer];
    expect(String(message)).toBe('echo hi');
    socket.close();
    await once(socket, 'close');
    const refused = open('/rival/hello/ws');
    const [error] = (await once(refused, 'error')) as [Error];
    expect(error.message).toContain('403');
  });

  it.each([
    ['without a token', '/school/hello/', '', 401, 'UNAUTHENTICATED'],
    ['with a token of nobody', '/school/hello/', 'a.b.c', 401, 'UNAUTHENTICATED'],
    ['to another tenant', '/rival/hello/', undefined, 403, 'CROSS_TENANT'],
    ['to what is not installed', '/school/nothing/', undefined, 404, 'PLUGIN_NOT_INSTALLED'],
    ['to no plugin at all', '/school', undefined, 404, 'NOT_FOUND'],
  ])('refuses a request %s', async (_, path, as, status, error) => {
    const answer = await asked(path, as === undefined ? {} : { as });
    expect(answer).toMatchObject({ status, answer: { status, error } });
    expect(answer.answer.message).not.toContain(token);
  });

  it('keeps on record what a plugin tried in another tenant', async () => {
    const found = await world.tenants.eventually(async () => {
      const { items } = await world.client.resource(CrossTenantAttemptKind, 'school').list();
      return items.find(({ spec }) => spec.kind === 'gateway' && spec.target === '/rival/hello/');
    });
    expect(found.spec).toMatchObject({ plugin: 'hello', rule: 'CrossTenant', source: '127.0.0.1' });
  });

  it('lets a plugin do at another what its permissions say', async () => {
    const friend = await world.token('plugin-school-friend');
    expect((await asked('/school/hello/', { as: friend })).status).toBe(200);
    expect(await asked('/school/hello/', { as: friend, method: 'POST' })).toMatchObject({
      status: 403,
      answer: { error: 'ADAP-SEC-0010' },
    });
    expect((await asked('/school/friend/', { as: friend, method: 'POST' })).status).toBe(200);
  });

  it('lets users in whom the tenant’s roles let in', async () => {
    const account = async (namespace: string, name: string): Promise<string> => {
      await world.client.resource(ServiceAccount, namespace).create({ metadata: { name } });
      const { status } = await world.client.request<{ status: { token: string } }>({
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
      });
      return status.token;
    };
    const caller = await account('school', 'caller');
    expect(await asked('/school/hello/', { as: caller })).toMatchObject({ status: 403, answer: { error: 'FORBIDDEN' } });
    const viewer = await account('school', 'viewer');
    await world.client.resource(RoleBinding, 'school').create({
      metadata: { name: 'viewer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'viewer', namespace: 'school' }],
    });
    await world.tenants.eventually(async () => (await asked('/school/hello/', { as: viewer })).status === 200);
    expect((await asked('/school/hello/', { as: viewer, method: 'POST' })).status).toBe(403);
    expect((await asked('/rival/hello/', { as: viewer })).status).toBe(403);
  });

  it('answers 429 with Retry-After above the rate of the manifest, first of the user, then of all', async () => {
    const friend = await world.token('plugin-school-friend');
    const at = '/school/limited/';
    expect([(await asked(at)).status, (await asked(at)).status]).toEqual([200, 200]);
    const third = await asked(at);
    expect(third).toMatchObject({ status: 429, answer: { error: 'REQUEST_RATE_EXCEEDED', message: expect.stringContaining('2/minute') } });
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(0);
    expect((await asked(at, { as: friend })).status).toBe(200);
    expect((await asked(at, { as: friend })).answer.message).toContain('3/minute');
  });

  it('tells a failure of the plugin, and sends nothing twice that a Pod may have seen', async () => {
    expect((await asked('/school/hello/fail')).status).toBe(500);
    expect(await asked('/school/hello/cut', { method: 'POST', body: 'x' })).toMatchObject({
      status: 502,
      answer: { error: 'PLUGIN_FAILED' },
    });
    const half = await ask('/school/hello/half');
    await expect(text(half)).rejects.toThrow();
  });

  it('is not led astray by two lengths, a broken head, or a caller that hangs up', async () => {
    const raw = async (head: string): Promise<string> => {
      const socket = connect(port, '127.0.0.1');
      socket.write(head);
      return text(socket);
    };
    const base = `POST /school/hello/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
    expect(await raw(`${base}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET`)).toContain('400 Bad Request');
    expect(await raw('BROKEN\r\n\r\n')).toContain('400 Bad Request');
    const gone = httpRequest({
      host: '127.0.0.1',
      port,
      path: '/school/hello/events?ms=60000',
      headers: { authorization: `Bearer ${token}` },
    });
    gone.on('error', () => {});
    gone.end();
    await once(gone, 'response');
    gone.destroy();
    await world.tenants.eventually(() =>
      Promise.resolve(/requests_in_flight\{tenant="school",plugin="hello",version="1.0.0"\} 0/.test(metrics.expose())),
    );
  });

  it('tries another Pod when one refuses connections, and waits when all do', async () => {
    const { items } = await world.client.resource(Pod, 'plugin-school-friend').list();
    const [{ metadata }] = items;
    const friend = await world.token('plugin-school-friend');
    // A Pod that is gone before anybody heard of it: its server ends with it, the next one starts.
    await world.client.resource(Pod, 'plugin-school-friend').delete(metadata.name!);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => asked('/school/friend/', { as: friend, method: 'POST', body: 'x' })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('counts by tenant, plugin and version', () => {
    const exposed = metrics.expose();
    expect(exposed).toMatch(/tenantry_plugin_gateway_requests_total\{tenant="school",plugin="hello",version="1.0.0",code="2xx"\} \d+/);
    expect(exposed).toMatch(/tenantry_plugin_gateway_requests_total\{tenant="school",plugin="hello",version="1.0.0",code="5xx"\} 1/);
    expect(exposed).toMatch(/tenantry_plugin_gateway_refused_total\{tenant="rival",plugin="hello",reason="CROSS_TENANT"\} \d+/);
    expect(exposed).toMatch(/tenantry_plugin_gateway_refused_total\{tenant="",plugin="",reason="NOT_FOUND"\} 1/);
    expect(exposed).toContain('tenantry_plugin_gateway_request_duration_seconds_bucket{tenant="school"');
  });

  it('writes down the LLM tokens that a plugin may use, and nothing of itself while nothing moves', async () => {
    expect((await world.get('school', 'hello')).status!.gateway).toMatchObject({
      llmTokensPerDay: 5000,
      routes: [{ version: '1.0.0', weight: 100 }],
    });
    const report = await world.client.resource(ConfigMap, 'tenantry-gateways').get('plugin-gateway-test');
    expect(report.data).toEqual({ 'report.json': '{}' });
  });

  it('cannot change what the platform goes by, nor read more of it than its keys', async () => {
    const platform = gatewayClient.resource(ConfigMap, 'tenantry-system');
    const patch = { type: 'merge', patch: { data: { 'jwks.json': '{}' } } } as const;
    await expect(platform.patch('plugin-token-jwks', patch)).rejects.toMatchObject({ code: 403 });
    await expect(platform.delete('plugin-token-jwks')).rejects.toMatchObject({ code: 403 });
    await expect(platform.create({ metadata: { name: 'forged' } })).rejects.toMatchObject({ code: 403 });
    await expect(platform.list()).rejects.toMatchObject({ code: 403 });
    expect((await platform.get('plugin-token-jwks')).data).toHaveProperty(['jwks.json']);
    await expect(gatewayClient.resource(CrossTenantAttemptKind, 'school').deleteCollection()).rejects.toMatchObject({ code: 403 });
  });

  it('ends a token at once when its installation is suspended, and for good when it is removed', async () => {
    const friend = await world.token('plugin-school-friend');
    await world.patch('school', 'friend', { suspended: true });
    await world.tenants.eventually(async () => (await asked('/school/hello/', { as: friend })).status === 401);
    expect(await asked('/school/friend/')).toMatchObject({ status: 503, answer: { error: 'PLUGIN_SUSPENDED' } });
    await world.client.resource(PluginInstallationKind, 'school').delete('friend');
    await world.tenants.eventually(async () => (await asked('/school/friend/')).status === 404);
  });
});
