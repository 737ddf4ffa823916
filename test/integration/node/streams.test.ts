import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInMemoryTransport } from '../../../src/client/in-memory/in-memory-transport.ts';
import { certificateCredentials, tokenCredentials } from '../../../src/client/config/credentials.ts';
import { createHttpTransport } from '../../../src/client/http/http-transport.ts';
import { podLogs } from '../../../src/client/streams/pod-logs.ts';
import { podPortForward } from '../../../src/client/streams/port-forward.ts';
import { podAttach, podExec, type ExecRequest } from '../../../src/client/streams/remote-command.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { inProcessHandler } from '../../../src/engine/apiserver/in-process.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';
import { startProcessNode, type ProcessNode } from './node-of-processes.ts';

const WEB = { namespace: 'default', name: 'web' };
let target: EmbeddedTarget;
let node: ProcessNode;
let admin: Transport;

beforeAll(async () => {
  target = await startEmbeddedTarget();
  node = await startProcessNode(target);
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

async function run(request: Omit<ExecRequest, 'container'>, input?: string | Buffer) {
  const command = await podExec(admin, WEB, { ...request, stdin: input !== undefined });
  command.stdin?.end(input);
  const [out, err, exitCode] = await Promise.all([buffer(command.stdout), text(command.stderr!), command.exit]);
  return { out, err, exitCode };
}

describe('exec', () => {
  it('gives back both outputs and the exit code', async () => {
    const { out, err, exitCode } = await run({ command: ['sh', '-c', 'echo out; echo err >&2; exit 3'] });
    expect({ out: out.toString(), err, exitCode }).toEqual({ out: 'out\n', err: 'err\n', exitCode: 3 });
  });

  it('the end of input reaches the program, after megabytes both ways', async () => {
    const bytes = Buffer.alloc(5 * 1024 * 1024, 'some text that goes there and back ');
    const { out, exitCode } = await run({ command: ['cat'] }, bytes);
    expect(exitCode).toBe(0);
    expect(out.equals(bytes)).toBe(true);
  });

  it('a program that cannot be started is an error, not an exit code', async () => {
    const command = await podExec(admin, WEB, { command: ['/does/not/exist'] });
    command.stdout.resume();
    command.stderr!.resume();
    await expect(command.exit).rejects.toMatchObject({ status: { reason: 'InternalError' } });
    await expect(command.exit).rejects.toThrow('error executing command in container');
  });

  it.each([
    ['a Pod that is not there', { namespace: 'default', name: 'none' }, {}, 404, 'pods "none" not found'],
    ['a container that is not there', WEB, { container: 'x' }, 400, 'container x is not valid for pod web'],
    [
      'no container named',
      { namespace: 'default', name: 'two' },
      {},
      400,
      'a container name must be specified for pod two, choose one of: [a b]',
    ],
    ['a Pod on no node', { namespace: 'default', name: 'unplaced' }, {}, 400, 'pod unplaced does not have a host assigned'],
    ['a Pod that the node does not know', { namespace: 'default', name: 'two' }, { container: 'a' }, 404, 'pods "two" not found'],
  ])('%s is refused', async (_, pod, more, code, message) => {
    await expect(podExec(admin, pod, { command: ['true'], ...more })).rejects.toMatchObject({ code, message });
  });

  it('the program ends when its client leaves', async () => {
    const command = await podExec(admin, WEB, { command: ['sleep', '1000'] });
    expect(node.running.size).toBe(1);
    const [sleeping] = node.running;
    const ended = once(sleeping, 'exit');
    command.close();
    await ended;
    await expect(command.exit).rejects.toThrow('connection was closed');
  });

  it('a caller that cancels is let go', async () => {
    const cancel = new AbortController();
    const command = await podExec(admin, WEB, { command: ['sleep', '1000'], signal: cancel.signal });
    cancel.abort();
    await expect(command.exit).rejects.toThrow('connection was closed');
  });

  it('the size of the terminal is told', async () => {
    const command = await podExec(admin, WEB, { command: ['cat'], terminal: true, stdin: true });
    command.stdout.resume();
    command.resize(120, 40);
    command.stdin!.end();
    await command.exit;
    expect(node.sizes).toContainEqual([120, 40]);
  });

  it('output that nobody reads makes the program wait, and nothing is lost', async () => {
    const command = await podExec(admin, WEB, { command: ['sh', '-c', 'head -c 20000000 /dev/zero; echo end'] });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(command.stdout.readableLength).toBeLessThan(2 * 1024 * 1024);
    expect((await buffer(command.stdout)).length).toBe(20_000_004);
    expect(await command.exit).toBe(0);
  });

  it('without asking to leave HTTP it is refused', async () => {
    const { status, body } = await target.request('POST', '/api/v1/namespaces/default/pods/web/exec?command=true&stdout=true');
    expect([status, body.message]).toEqual([400, 'Upgrade request required']);
  });
});

describe('attach', () => {
  it('reaches the program that runs', async () => {
    node.attachable.current = spawn('sh', ['-c', 'read line; echo "got $line"; exit 4']);
    const command = await podAttach(admin, WEB, { stdin: true });
    command.stdin!.write('hello\n');
    command.stderr!.resume();
    expect(await text(command.stdout)).toBe('got hello\n');
    expect(await command.exit).toBe(0);
  });
});

describe('logs', () => {
  beforeEach(() => writeFileSync(node.logPath, '2026-11-15T12:00:00Z stdout F one\n2026-11-15T12:00:01Z stderr F two\n'));

  it.each([
    ['everything', {}, 'one\ntwo\n'],
    ['the last line', { tailLines: 1 }, 'two\n'],
    ['with times', { timestamps: true, tailLines: 1 }, '2026-11-15T12:00:01.000000000Z two\n'],
    ['from a time on', { sinceTime: '2026-11-15T12:00:01Z' }, 'two\n'],
    ['a few bytes', { limitBytes: 5 }, 'one\nt'],
  ])('%s', async (_, options, expected) => {
    expect(await text(await podLogs(admin, WEB, options))).toBe(expected);
  });

  it('callers inside the process get them too', async () => {
    const user = { name: 'me', groups: ['system:masters'] };
    const inside = createInMemoryTransport(inProcessHandler(target.engine.server, user));
    expect(await text(await podLogs(inside, WEB))).toBe('one\ntwo\n');
    await expect(podLogs(inside, { namespace: 'default', name: 'none' })).rejects.toThrow('pods "none" not found');
  });

  /** The node may look for the end of the log after the answer has begun: so it is written until something is heard. */
  async function heardWhileWriting(log: NodeJS.ReadableStream): Promise<string> {
    const write = (): void => appendFileSync(node.logPath, '2026-11-15T12:00:02Z stdout F three\n');
    const timer = setInterval(write, 20);
    const [chunk] = (await once(log, 'data')) as [Buffer];
    clearInterval(timer);
    return chunk.toString();
  }

  it('are followed as they are written, until the reader leaves', async () => {
    const log = await podLogs(admin, WEB, { follow: true, tailLines: 0 });
    expect(await heardWhileWriting(log)).toBe('three\n');
    const closed = once(log, 'close');
    log.destroy();
    await closed;
  });

  it('are followed over HTTP/2, where headers come before the first line', async () => {
    const session = connectHttp2(target.url, { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') });
    const request = session.request({ ':path': '/api/v1/namespaces/default/pods/web/log?follow=true&tailLines=0' });
    const [headers] = (await once(request, 'response')) as [Record<string, string | number>];
    expect([headers[':status'], headers['content-type']]).toEqual([200, 'text/plain']);
    expect(await heardWhileWriting(request)).toBe('three\n');
    session.destroy();
  });

  it.each([
    [
      'both ways to say since',
      'sinceSeconds=5&sinceTime=2026-11-15T12:00:00Z',
      422,
      'at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['fewer lines than none', 'tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['no bytes at all', 'limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['a stream and a tail', 'stream=Stdout&tailLines=1', 422, '`tailLines` and specific `stream` are mutually exclusive for now'],
    ['a number that is none', 'tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['a container that is not there', 'container=x', 400, 'container x is not valid for pod web'],
  ])('%s is refused', async (_, query, code, message) => {
    const { status, body } = await target.request('GET', `/api/v1/namespaces/default/pods/web/log?${query}`);
    expect(status).toBe(code);
    expect(body.message).toContain(message);
  });

  it('of a Pod that is on no node there is nothing', async () => {
    expect((await target.request('GET', '/api/v1/namespaces/default/pods/unplaced/log')).status).toBe(204);
  });
});

describe('port-forward', () => {
  let echo: Server;
  beforeEach(async () => {
    echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
  });
  afterEach(() => void echo.close());
  const port = (): number => (echo.address() as AddressInfo).port;

  it('carries many connections at once, each ending on its own', async () => {
    const forward = await podPortForward(admin, WEB);
    const said = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const connection = await forward.open(port());
        connection.end(`connection ${index}`.repeat(1000));
        return text(connection);
      }),
    );
    expect(said).toEqual(Array.from({ length: 20 }, (_, index) => `connection ${index}`.repeat(1000)));
    forward.close();
  });

  it('a port where nobody listens is told, and the others go on', async () => {
    const forward = await podPortForward(admin, WEB);
    const nobody = createServer().listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const free = (nobody.address() as AddressInfo).port;
    nobody.close();
    await once(nobody, 'close');
    const connection = await forward.open(free);
    const [error] = (await once(connection, 'error')) as [Error];
    expect(error.message).toContain(`error forwarding port ${free} to pod web`);
    const other = await forward.open(port());
    other.end('still here');
    expect(await text(other)).toBe('still here');
    forward.close();
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
    expect((await run({ command: ['true'] })).exitCode).toBe(0);
    await target.request('DELETE', `${path.replace('policies', 'policybindings')}/no-rm`);
  });

  it('the audit log knows who was in which Pod', async () => {
    await run({ command: ['true'] });
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
