import { spawn, type ChildProcess } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Duplex } from 'node:stream';
import { createNodeServer, type NodeServer } from '../../../src/engine/node/server/node-server.ts';
import { readLog } from '../../../src/engine/node/server/log-reader.ts';
import type { ContainerTarget, NodeUsage, PodAccess } from '../../../src/engine/node/server/pod-access.ts';
import type { ProgramStreams } from '../../../src/engine/node/shim/shim.ts';
import { badRequestError, notFoundError } from '../../../src/kube/status.ts';
import { issueCertificate } from '../../../src/lib/pki/certificate.ts';
import { generateKeys } from '../../../src/lib/pki/key-files.ts';
import type { ApiTarget } from '../../support/api-target.ts';
import type { EmbeddedTarget } from '../../support/embedded-target.ts';

/** The cluster that a node is made for. */
export interface NodeCluster {
  request: ApiTarget['request'];
  /** PEM of its authority, which signs the node's certificate and the API server's. */
  ca: string;
  caKey: string;
  /** Who the API server is for nodes; ours when absent. */
  clientNames?: string[];
}

export function clusterOf({ request, data }: EmbeddedTarget): NodeCluster {
  const pem = (name: string): string => readFileSync(join(data, 'pki', name), 'utf8');
  return { request, ca: pem('ca.crt'), caKey: pem('ca.key') };
}

const USAGE: NodeUsage = {
  node: { at: new Date(0), windowSeconds: 10, cpuNanocores: 5e8, cpuNanoseconds: 7e9, memoryBytes: 1000 },
  pods: [
    {
      namespace: 'default',
      name: 'web',
      containers: [{ name: 'main', at: new Date(0), windowSeconds: 10, cpuNanocores: 1e6, cpuNanoseconds: 3e9, memoryBytes: 10 }],
    },
  ],
};

/**
 * A node whose one Pod, `web` in `default`, is made of plain processes: exec starts them in its folder, attach reaches the one given to
 * it, a port is a port of this machine's loopback, and the log is the file in its folder.
 */
export interface ProcessNode {
  folder: string;
  logPath: string;
  sizes: [number, number][];
  /** Those started and not ended. */
  running: Set<ChildProcess>;
  attachable: { current: ChildProcess | undefined };
  /** Ends the container, for those who follow its log. */
  endContainer(): void;
  port: number;
  close(): Promise<void>;
}

export async function startProcessNode(cluster: NodeCluster): Promise<ProcessNode> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-pod-'));
  const logPath = join(folder, '0.log');
  const running = new Set<ChildProcess>();
  const sizes: [number, number][] = [];
  const attachable: ProcessNode['attachable'] = { current: undefined };
  let endContainer = (): void => {};
  const ended = new Promise<void>((resolve) => (endContainer = resolve));

  const check = ({ namespace, name, container = 'main' }: Partial<ContainerTarget>): void => {
    if (namespace !== 'default' || name !== 'web') throw notFoundError({ group: '', resource: 'pods' }, name ?? '');
    if (container === 'late') throw badRequestError(`container "late" in pod "web" is waiting to start: ContainerCreating`);
  };
  const streamsOf = (child: ChildProcess): ProgramStreams => ({
    stdin: child.stdin ?? undefined,
    // Node throws away what nobody reads by the time a child ends.
    stdout: child.stdout!.pipe(new PassThrough()),
    stderr: child.stderr?.pipe(new PassThrough()),
    resize: (columns, rows) => void sizes.push([columns, rows]),
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve({ exitCode: code ?? 137 }));
    }),
    close: () => void child.kill('SIGKILL'),
  });
  const access: PodAccess = {
    logs: async (asked, options, signal) => {
      check(asked);
      return readLog({ path: logPath, options, ended, signal });
    },
    exec: async (asked, { command, stdin }) => {
      check(asked);
      const child = spawn(command[0], command.slice(1), { cwd: folder, stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'] });
      running.add(child);
      child.once('close', () => running.delete(child));
      const streams = streamsOf(child);
      streams.ended.catch(() => running.delete(child));
      await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
      return streams;
    },
    attach: async (asked) => {
      check(asked);
      return { streams: streamsOf(attachable.current!), terminal: false, stdin: true };
    },
    dial: (asked, port) =>
      new Promise<Duplex>((resolve, reject) => {
        check(asked);
        const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
        socket.once('connect', () => resolve(socket)).once('error', reject);
      }),
    usage: () => Promise.resolve(USAGE),
    pods: () => Promise.resolve([]),
  };
  const server = nodeServer(cluster, access);
  const port = await server.listen();
  await announce(cluster, port);
  return {
    folder,
    logPath,
    sizes,
    running,
    attachable,
    endContainer,
    port,
    async close() {
      await server.close();
      for (const child of running) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function nodeServer({ ca, caKey, clientNames }: NodeCluster, access: PodAccess): NodeServer {
  const authority = { certificate: new X509Certificate(ca), key: createPrivateKey(caKey) };
  const { publicKey, privateKey } = generateKeys();
  const certificate = issueCertificate(
    {
      subject: { commonName: 'system:node:here', organizations: ['system:nodes'] },
      publicKey,
      usages: ['digital signature', 'server auth'],
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 3_600_000),
      alternativeNames: { addresses: ['127.0.0.1'] },
    },
    authority,
  );
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return createNodeServer({ nodeName: 'here', access, tls: { certificate, key }, clientAuthority: ca, clientNames, address: '127.0.0.1' });
}

/** The objects: the node with its address, and two Pods on it, one of them with two containers. */
async function announce(target: NodeCluster, port: number): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const { status, body: answer } = await target.request('POST', path, body);
    if (status !== 201) throw new Error(JSON.stringify(answer));
  };
  await post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'here' } });
  await target.request(
    'PATCH',
    '/api/v1/nodes/here/status',
    { status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: port } } } },
    { contentType: 'application/merge-patch+json' },
  );
  const pod = (name: string, containers: string[], nodeName?: string): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      ...(nodeName && { nodeName }),
      // No agent is there to take them away in time.
      terminationGracePeriodSeconds: 0,
      containers: containers.map((container) => ({ name: container, image: 'tenantry.dev/tools' })),
    },
  });
  await waitForServiceAccount(target);
  await post('/api/v1/namespaces/default/pods', pod('web', ['main'], 'here'));
  await post('/api/v1/namespaces/default/pods', pod('two', ['a', 'b'], 'here'));
  await post('/api/v1/namespaces/default/pods', pod('unplaced', ['main']));
  await target.request(
    'PATCH',
    '/api/v1/namespaces/default/pods/web/status',
    { status: { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] } },
    { contentType: 'application/merge-patch+json' },
  );
}

async function waitForServiceAccount(target: NodeCluster): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { status } = await target.request('GET', '/api/v1/namespaces/default/serviceaccounts/default');
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
