import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary } from './binaries.ts';
import { makeCertificates, type Certificates } from './certificates.ts';

export interface ControlPlane {
  url: string;
  /** Path of a kubeconfig that may do everything. */
  kubeconfig: string;
  /** PEM of the CA that signed the server's certificate, and that is trusted for clients. */
  ca: string;
  /** Bearer token of a member of system:masters. */
  adminToken: string;
  certificates: Certificates;
  pids: { etcd: number; apiserver: number };
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  /** More flags for kube-apiserver. */
  flags?: string[];
}

/** Starts a real etcd and kube-apiserver on free loopback ports, in a temporary folder that `stop` removes. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const [etcdPath, apiserverPath] = [await binary('etcd'), await binary('kube-apiserver')];
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-control-plane-'));
  mkdirSync(join(folder, 'pki'));
  const certificates = makeCertificates(join(folder, 'pki'));
  const adminToken = randomBytes(16).toString('hex');
  const tokenFile = join(folder, 'tokens.csv');
  writeFileSync(tokenFile, `${adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 });

  const [clientPort, peerPort, apiPort] = await freePorts(3);
  const etcdUrl = `http://127.0.0.1:${clientPort}`;
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    children.push(startChild(etcdPath, etcdFlags(folder, etcdUrl, `http://127.0.0.1:${peerPort}`), join(folder, 'etcd.log')));
    const flags = [...apiserverFlags(certificates, tokenFile, etcdUrl, apiPort), ...(options.flags ?? [])];
    const log = join(folder, 'kube-apiserver.log');
    children.push(startChild(apiserverPath, flags, log));
    const url = `https://127.0.0.1:${apiPort}`;
    const ca = readFileSync(certificates.ca, 'utf8');
    await ready(url, ca, children[1], log);
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, kubeconfigText(url, ca, adminToken), { mode: 0o600 });
    const pids = { etcd: children[0].pid!, apiserver: children[1].pid! };
    return { url, kubeconfig, ca, adminToken, certificates, pids, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function etcdFlags(folder: string, clientUrl: string, peerUrl: string): string[] {
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--log-level=warn',
  ];
}

function apiserverFlags(certificates: Certificates, tokenFile: string, etcdUrl: string, port: number): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    '--service-cluster-ip-range=10.0.0.0/24',
    `--tls-cert-file=${certificates.serverCert}`,
    `--tls-private-key-file=${certificates.serverKey}`,
    `--client-ca-file=${certificates.ca}`,
    `--token-auth-file=${tokenFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${certificates.serviceAccountKey}`,
    `--service-account-key-file=${certificates.serviceAccountKey}`,
    '--authorization-mode=RBAC',
    '--enable-bootstrap-token-auth',
    '--enable-aggregator-routing',
    `--requestheader-client-ca-file=${certificates.frontProxyCa}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-username-headers=X-Remote-User',
    `--proxy-client-cert-file=${certificates.frontProxyCert}`,
    `--proxy-client-key-file=${certificates.frontProxyKey}`,
    `--kubelet-certificate-authority=${certificates.ca}`,
    `--kubelet-client-certificate=${certificates.adminCert}`,
    `--kubelet-client-key=${certificates.adminKey}`,
    '--kubelet-preferred-address-types=InternalIP',
  ];
}

function startChild(path: string, args: string[], log: string): ChildProcess {
  const output = openSync(log, 'w');
  try {
    return spawn(path, args, { stdio: ['ignore', output, output] });
  } finally {
    closeSync(output);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  // kube-apiserver drains its watches for up to a minute; a test has nothing to lose by cutting that short.
  const impatience = setTimeout(() => child.kill('SIGKILL'), 2_000);
  await exited;
  clearTimeout(impatience);
}

/** Ports the kernel calls free now. They are released before use, so another process could take one: a start then fails and says so. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => void server.close(resolve))));
  return ports;
}

async function ready(url: string, ca: string, apiserver: ChildProcess, log: string): Promise<void> {
  const agent = new Agent({ ca });
  const deadline = Date.now() + 60_000;
  while ((await statusCode(`${url}/readyz`, agent)) !== 200) {
    if (apiserver.exitCode !== null || Date.now() > deadline) {
      const state = apiserver.exitCode === null ? 'not ready after 60 s' : `it exited with code ${apiserver.exitCode}`;
      throw new Error(`Cannot start "kube-apiserver": ${state}; its last words: ${readFileSync(log, 'utf8').slice(-2000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  agent.destroy();
}

async function statusCode(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const call = request(url, { agent }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on('error', () => resolve(0));
    call.end();
  });
}

function kubeconfigText(url: string, ca: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'real',
    clusters: [{ name: 'real', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'real', context: { cluster: 'real', user: 'admin' } }],
  });
}
