import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CertificateSigningRequest, ClusterRoleBinding, Node, Secret } from '../../src/client/kinds.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { isReady, nodeUser, until, type NodeUser } from '../support/node-client.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-join-'));
const data = join(folder, 'up');
/** Nobody listens there: what reaches it came through the tunnel. */
const ADDRESS = '127.0.0.9';
let engine: SpawnedEngine;
let user: NodeUser;
let worker: ChildProcess | undefined;
let said = '';

function startWorker(...words: string[]): void {
  const { port } = new URL(engine.target.url);
  const flags = ['--ca', join(data, 'pki/ca.crt'), '--data', join(folder, 'worker'), '--name', 'w1', '--address', ADDRESS];
  const server = ['--server', engine.target.url, '--tunnel', `127.0.0.1:${port}`, '--node', 'process', '--node-network', 'shared'];
  said = '';
  worker = spawn(process.execPath, ['bin/tenantry', 'join', ...server, ...flags, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [worker.stdout!, worker.stderr!]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
}

async function stopWorker(): Promise<void> {
  if (worker?.exitCode !== null) return;
  const ended = once(worker, 'exit');
  worker.kill('SIGTERM');
  await ended;
}

/** As `kubectl certificate approve` does it. */
async function approve(signerName: string): Promise<void> {
  const requests = user.client.resource(CertificateSigningRequest);
  const request = await until(
    async () => (await requests.list()).items.find(({ spec, status }) => spec.signerName === signerName && !status?.conditions),
    (found) => found !== undefined,
  );
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: '' }];
  await requests.subresource<KubeObject>('approval').update(request!.metadata.name!, { ...request!, status: { conditions } });
}

beforeAll(async () => {
  chmodSync(folder, 0o711);
  engine = await spawnEngine(data, { args: ['--node', 'none'] });
  user = nodeUser(engine.target.url, data);
  await user.client.resource<KubeObject>(Secret, 'kube-system').create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': 'system:bootstrappers:test',
    },
  });
  await user.client.resource<KubeObject>(ClusterRoleBinding).create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'test-bootstrappers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:bootstrappers:test' }],
  });
}, 60_000);
afterAll(async () => {
  await stopWorker();
  await user?.close();
  await engine?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const nodeIsReady = () =>
  until(
    () =>
      user.client
        .resource(Node)
        .get('w1')
        .catch(() => undefined),
    (node) => node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True',
  );

test('a token that is not known is refused in one line', async () => {
  startWorker('--token', 'zzzzzz.0123456789abcdef');
  await once(worker!, 'exit');
  expect(worker!.exitCode).toBe(1);
  expect(said).toContain('Cannot join as node "w1": the token is not valid, or no longer; ask for a new one');
}, 60_000);

test('a process with a token becomes a node, once its certificates are approved', async () => {
  startWorker('--token', 'abcdef.0123456789abcdef');
  await approve('kubernetes.io/kube-apiserver-client-kubelet');
  await approve('kubernetes.io/kubelet-serving');
  const node = await nodeIsReady();
  expect(node!.status!.addresses).toContainEqual({ type: 'InternalIP', address: ADDRESS });
}, 60_000);

test('it runs Pods, and what they say comes through its tunnel', async () => {
  await user.createPod('web', { command: ['sh', '-c', 'echo through the tunnel; sleep 1000'] });
  await until(() => user.pod('web'), isReady);
  expect(
    await until(
      () => user.logs('web'),
      (text) => text !== '',
    ),
  ).toBe('through the tunnel\n');
}, 60_000);

test('the next start needs no token', async () => {
  await stopWorker();
  startWorker();
  await until(
    () => Promise.resolve(said),
    (text) => text.includes('node w1 has joined'),
  );
  await nodeIsReady();
}, 60_000);
