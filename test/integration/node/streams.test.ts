import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInMemoryTransport } from '../../../src/client/in-memory/in-memory-transport.ts';
import { certificateCredentials, tokenCredentials } from '../../../src/client/config/credentials.ts';
import { createHttpTransport } from '../../../src/client/http/http-transport.ts';
import { podLogs } from '../../../src/client/streams/pod-logs.ts';
import { podAttach, podExec } from '../../../src/client/streams/remote-command.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { inProcessHandler } from '../../../src/engine/apiserver/in-process.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';
import { clusterOf, startProcessNode, type ProcessNode } from './node-of-processes.ts';
import { heardWhileWriting, streamsSuite, WEB } from './streams.suite.ts';

let target: EmbeddedTarget;
let node: ProcessNode;
let admin: Transport;

beforeAll(async () => {
  target = await startEmbeddedTarget();
  node = await startProcessNode(clusterOf(target));
  admin = transportOf(certificateCredentials(() => Promise.resolve({ cert: pem('admin.crt'), key: pem('admin.key') })));
});
afterAll(async () => {
  await admin.close();
  await node.close();
  await target.close();
});

function pem(name: string): string {
  return readFileSync(join(target.data, 'pki', name), 'utf8');
}

function transportOf(credentials: Parameters<typeof createHttpTransport>[0]['credentials']): Transport {
  return createHttpTransport({ endpoint: { url: new URL(target.url) }, ca: () => Promise.resolve(pem('ca.crt')), credentials });
}

streamsSuite(() => ({ request: target.request, transport: admin, node }));

async function exitCode(command: string[]): Promise<number> {
  const running = await podExec(admin, WEB, { command });
  running.stdout.resume();
  running.stderr!.resume();
  return running.exit;
}

describe('logs here', () => {
  beforeEach(() => writeFileSync(node.logPath, '2026-11-15T12:00:00Z stdout F one\n2026-11-15T12:00:01Z stderr F two\n'));

  it('callers inside the process get them too', async () => {
    const user = { name: 'me', groups: ['system:masters'] };
    const inside = createInMemoryTransport(inProcessHandler(target.engine.server, user));
    expect(await text(await podLogs(inside, WEB))).toBe('one\ntwo\n');
    await expect(podLogs(inside, { namespace: 'default', name: 'none' })).rejects.toThrow('pods "none" not found');
  });

  it('are followed over HTTP/2, where headers come before the first line', async () => {
    const session = connectHttp2(target.url, { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') });
    const request = session.request({ ':path': '/api/v1/namespaces/default/pods/web/log?follow=true&tailLines=0' });
    const [headers] = (await once(request, 'response')) as [Record<string, string | number>];
    expect([headers[':status'], headers['content-type']]).toEqual([200, 'text/plain']);
    expect(await heardWhileWriting(request, node.logPath)).toBe('three\n');
    session.destroy();
  });

  it('of one stream alone can be asked for, without a tail', async () => {
    const path = '/api/v1/namespaces/default/pods/web/log?stream=Stderr';
    expect((await target.request('GET', path)).body).toBe('two\n');
    const { status, body } = await target.request('GET', `${path}&tailLines=1`);
    expect([status, body.message]).toEqual([
      422,
      'PodLogOptions "web" is invalid: : Forbidden: `tailLines` and specific `stream` are mutually exclusive for now',
    ]);
  });
});

describe('proxy', () => {
  it('passes requests on to a Pod and to the node', async () => {
    const web = createHttpServer((request, response) => {
      if (request.url === '/moved') return response.writeHead(302, { location: '/there' }).end();
      request
        .resume()
        .once('end', () => response.end(`${request.method} ${request.url} ${request.headers.authorization ?? 'no credentials'}`));
    });
    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
    const base = `/api/v1/namespaces/default/pods/web:${(web.address() as AddressInfo).port}/proxy`;
    expect((await target.request('GET', `${base}/some/path?x=1`)).body).toBe('GET /some/path?x=1 no credentials');
    expect((await target.request('POST', `${base}/`, { a: 1 })).body).toBe('POST / no credentials');
    expect((await target.request('GET', `${base}/moved`)).headers.location).toBe(`${base}/there`);
    expect((await target.request('GET', base)).headers.location).toBe(`${base}/`);
    web.close();
    expect((await target.request('GET', '/api/v1/nodes/here/proxy/stats/summary')).body.node.nodeName).toBe('here');
    expect((await target.request('GET', `${base}/gone`)).status).toBe(503);
  });

  it('callers inside the process read what a node tells about its usage', async () => {
    const inside = createInMemoryTransport(inProcessHandler(target.engine.server, { name: 'me', groups: ['system:masters'] }));
    const { status, body } = await inside.request({ method: 'GET', path: '/api/v1/nodes/here/proxy/stats/summary' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ node: { cpu: { usageNanoCores: 5e8 } } });
  });
});

describe('access', () => {
  it('who may only read Pods gets their logs, and not into them', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const rules = [{ apiGroups: [''], resources: ['pods/log', 'pods/exec'], verbs: ['get'] }];
    await target.request('POST', `${rbac}/roles`, { metadata: { name: 'reader' }, rules });
    await target.request('POST', `${rbac}/rolebindings`, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
    });
    const { body } = await target.request('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} });
    const reader = transportOf(tokenCredentials(body.status.token));
    expect(await text(await podLogs(reader, WEB))).toContain('one');
    await expect(podExec(reader, WEB, { command: ['true'] })).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining('pods "web" is forbidden'),
    });
    await expect(podAttach(reader, WEB)).rejects.toMatchObject({ code: 403 });
    await reader.close();
  });

  it('a webhook sees a connection and may refuse it', async () => {
    const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
    await target.request('POST', path, {
      metadata: { name: 'no-rm' },
      spec: {
        matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/exec'] }] },
        validations: [{ expression: '!("rm" in object.command)', message: 'no rm here' }],
      },
    });
    await target.request('POST', path.replace('policies', 'policybindings'), {
      metadata: { name: 'no-rm' },
      spec: { policyName: 'no-rm', validationActions: ['Deny'] },
    });
    await expect(podExec(admin, WEB, { command: ['rm', 'x'] })).rejects.toThrow('no rm here');
    expect(await exitCode(['true'])).toBe(0);
    await target.request('DELETE', `${path.replace('policies', 'policybindings')}/no-rm`);
  });

  it('the audit log knows who was in which Pod', async () => {
    await exitCode(['true']);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const lines = readFileSync(target.engine.auditPath, 'utf8').trim().split('\n');
    const events = lines.map(
      (line) => JSON.parse(line) as { objectRef?: { subresource?: string }; responseStatus: { code: number }; user: object },
    );
    const exec = events.findLast((event) => event.objectRef?.subresource === 'exec');
    expect(exec).toMatchObject({
      verb: 'get',
      user: { username: 'kubernetes-admin' },
      objectRef: { name: 'web' },
      responseStatus: { code: 101 },
    });
  });

  it('the node lets in the API server and nobody else', async () => {
    const { request } = await import('node:https');
    const ask = (certificate: object): Promise<number | string> =>
      new Promise((resolve) => {
        const outgoing = request({ host: '127.0.0.1', port: node.port, path: '/healthz', ca: pem('ca.crt'), agent: false, ...certificate });
        outgoing.once('response', (answer) => resolve(answer.resume().statusCode!));
        outgoing.once('error', (error) => resolve(error.name));
        outgoing.end();
      });
    expect(await ask({ cert: pem('apiserver-kubelet-client.crt'), key: pem('apiserver-kubelet-client.key') })).toBe(200);
    expect(await ask({ cert: pem('admin.crt'), key: pem('admin.key') })).toBe(403);
    expect(await ask({})).toBe('Error');
  });

  it('a node that is not there is told as Kubernetes tells it', async () => {
    await target.request('POST', '/api/v1/nodes', { metadata: { name: 'gone' } });
    const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: 1 } } };
    await target.request('PATCH', '/api/v1/nodes/gone/status', { status }, { contentType: 'application/merge-patch+json' });
    await target.request('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'lost' },
      spec: { nodeName: 'gone', terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'x' }] },
    });
    const { status: code, body } = await target.request('GET', '/api/v1/namespaces/default/pods/lost/log');
    expect([code, body.message]).toEqual([
      500,
      'Get "https://127.0.0.1:1/containerLogs/default/lost/c?": dial tcp 127.0.0.1:1: connect: connection refused',
    ]);
    await expect(podExec(admin, { namespace: 'default', name: 'lost' }, { command: ['true'] })).rejects.toThrow(
      'error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused',
    );
  });
});
