import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../src/client/client.ts';
import { Node, Pod } from '../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../src/kube/object.ts';
import type { ControlPlane } from './control-plane.ts';

const PROGRAMS: Record<string, string[]> = {
  runtimed: ['dist/runtimed.js'],
  runtime: ['dist/runtime-server.js', 'bash'],
};

/**
 * The containers of a Runtime Pod as processes of this machine, started as a kubelet would start them: with the arguments and variables that
 * the Pod has on the API server, and a token of its ServiceAccount.
 */
export class RunPodProcesses {
  readonly #client: Client;
  readonly #plane: ControlPlane;
  readonly #pod: KubeObject;
  readonly #folder = mkdtempSync(join(tmpdir(), 'tenantry-run-pod-'));
  readonly #address: string;
  readonly #children = new Map<string, ChildProcess>();
  readonly said: string[] = [];

  constructor(client: Client, plane: ControlPlane, pod: KubeObject, address: string) {
    this.#client = client;
    this.#plane = plane;
    this.#pod = pod;
    this.#address = address;
  }

  async start(): Promise<void> {
    const { name, namespace } = this.#pod.metadata;
    const nodes = this.#client.resource(Node);
    await nodes.create({ metadata: { name: 'here' } }).catch(() => {});
    await this.#client.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`,
      body: { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target: { kind: 'Node', name: 'here' } },
    });
    await this.#writeToken();
    for (const container of ['runtime', 'runtimed']) this.startContainer(container);
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'True' }));
    const status = { phase: 'Running', podIP: this.#address, podIPs: [{ ip: this.#address }], conditions };
    await this.#client.resource(Pod, namespace).status.patch(name!, { type: 'strategic', patch: { status } });
  }

  startContainer(name: string): void {
    const container = this.#pod.spec!['containers'].find((each: Json) => each.name === name);
    const fields: Record<string, string> = {
      'metadata.name': this.#pod.metadata.name!,
      'metadata.namespace': this.#pod.metadata.namespace!,
      'status.podIP': this.#address,
    };
    const env: Record<string, string> = Object.fromEntries(
      (container.env ?? []).map((variable: Json) => [variable.name, variable.value ?? fields[variable.valueFrom.fieldRef.fieldPath]]),
    );
    const args: string[] = (container.args ?? []).map((text: string) =>
      text.replace(/\$\((\w+)\)/g, (whole, variable: string) => env[variable] ?? whole),
    );
    const { hostname, port } = new URL(this.#plane.url);
    const child = spawn(process.execPath, [...PROGRAMS[name], ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        ...env,
        TENANTRY_ROOT: this.#folder,
        KUBERNETES_SERVICE_HOST: hostname,
        KUBERNETES_SERVICE_PORT: port,
      },
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => this.said.push(`${name}: ${chunk.toString()}`));
    this.#children.set(name, child);
  }

  async kill(name: string): Promise<void> {
    const child = this.#children.get(name)!;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => void child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    for (const name of this.#children.keys()) await this.kill(name);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #writeToken(): Promise<void> {
    const { namespace } = this.#pod.metadata;
    const folder = join(this.#folder, 'var/run/secrets/kubernetes.io/serviceaccount');
    mkdirSync(folder, { recursive: true });
    mkdirSync(join(this.#folder, 'workspace'));
    const account: string = this.#pod.spec!['serviceAccountName'];
    writeFileSync(join(folder, 'token'), await tokenOf(this.#client, namespace!, account));
    writeFileSync(join(folder, 'ca.crt'), this.#plane.ca);
    writeFileSync(join(folder, 'namespace'), namespace!);
  }
}

export async function tokenOf(client: Client, namespace: string, account: string): Promise<string> {
  const { status } = await client.request<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
  });
  return status.token;
}
