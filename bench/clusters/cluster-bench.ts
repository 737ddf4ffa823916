import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KUBECONFIG_KEY, kubeconfigSecretOf } from '../../src/api/tenantry.dev/v1alpha1/cluster-names.ts';
import { ClusterPolicyKind } from '../../src/api/tenantry.dev/v1alpha1/cluster-policy.ts';
import { TenantClusterKind, type TenantCluster } from '../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { TenantKind } from '../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../src/client/client.ts';
import { Namespace, Secret } from '../../src/client/kinds.ts';
import { isConditionTrue } from '../../src/kube/conditions.ts';
import type { Kind } from '../../src/kube/kind.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { isStatusError } from '../../src/kube/status.ts';
import { binary } from '../../test/cluster/binaries.ts';
import { type } from '../../test/e2e/command.ts';
import { connect, startEngineProcess, type EngineProcess } from '../tenancy/engine-process.ts';

const TENANT = 'acme';
const AT_ONCE = 8;
const NO_PROGRAMS = '/var/empty';

export interface BenchCluster {
  kubeconfig: string;
  tenantClient: Client;
  uid: string;
}

/** `tenantry up` with a tenant, and clusters of it made and used as users do. */
export class ClusterBench {
  readonly #engine: EngineProcess;
  readonly #data: string;
  readonly #kubectl: string;
  readonly #clusters = new Map<string, BenchCluster>();

  private constructor(engine: EngineProcess, data: string, kubectl: string) {
    this.#engine = engine;
    this.#data = data;
    this.#kubectl = kubectl;
  }

  /** `programs`: the folder with those of Kubernetes control planes, which are then the default; without, the embedded ones are. */
  static async start(data: string, maxClusters: number, programs = NO_PROGRAMS): Promise<ClusterBench> {
    const engine = await startEngineProcess(data, ['--kubernetes-programs', programs]);
    await engine.client.resource(TenantKind).create({ metadata: { name: TENANT }, spec: {} });
    await untilTrue(engine.client, TenantKind, undefined, TENANT, isReady);
    await engine.client
      .resource(ClusterPolicyKind)
      .patch('default', { type: 'merge', patch: { spec: { max: { clusters: maxClusters } } } });
    return new ClusterBench(engine, data, await binary('kubectl'));
  }

  get enginePid(): number {
    return this.#engine.pid;
  }

  /** Until a request with the kubeconfig that the cluster hands out has been answered. */
  async create(name: string): Promise<BenchCluster> {
    const { client } = this.#engine;
    const { metadata } = await client.resource(TenantClusterKind, TENANT).create({ metadata: { name }, spec: {} });
    await untilTrue(client, Secret as unknown as Kind, TENANT, kubeconfigSecretOf(name), () => true);
    const secret = await client.resource(Secret, TENANT).get(kubeconfigSecretOf(name));
    const kubeconfig = join(this.#data, `${name}.kubeconfig`);
    writeFileSync(kubeconfig, Buffer.from(secret.data![KUBECONFIG_KEY], 'base64'));
    const tenantClient = await connect(kubeconfig);
    await tenantClient.resource(Namespace).list();
    const cluster = { kubeconfig, tenantClient, uid: metadata.uid! };
    this.#clusters.set(name, cluster);
    return cluster;
  }

  async createAll(names: readonly string[]): Promise<void> {
    const rest = [...names];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
          const { tenantClient } = await this.create(name);
          await tenantClient.close();
        }
      }),
    );
  }

  async kubectl({ kubeconfig }: BenchCluster, words: string[]): Promise<void> {
    const { code, stderr } = await type(this.#kubectl, ['--kubeconfig', kubeconfig, ...words]);
    if (code !== 0) throw new Error(`kubectl ${words.join(' ')} ended with ${code}: ${stderr}`);
  }

  async sleep(name: string): Promise<void> {
    await this.#patch(name, { sleep: true });
    await this.#until(name, ({ status }) => status?.phase === 'Asleep');
  }

  async wake(name: string): Promise<void> {
    await this.#patch(name, { sleep: false });
    await this.#until(name, (cluster) => cluster.status?.phase !== 'Asleep' && isReady(cluster));
    const client = await connect(this.#clusters.get(name)!.kubeconfig);
    await client.resource(Namespace).list();
    await client.close();
  }

  async remove(name: string): Promise<void> {
    await this.#clusters.get(name)?.tenantClient.close();
    this.#clusters.delete(name);
    const clusters = this.#engine.client.resource(TenantClusterKind, TENANT);
    const { metadata } = await clusters.get(name);
    await clusters.delete(name);
    for await (const update of clusters.watch({ fieldSelector: `metadata.name=${name}`, resourceVersion: metadata.resourceVersion })) {
      if (update.type === 'DELETED') return;
    }
  }

  processOf(name: string): number {
    const record = readFileSync(join(this.#data, 'clusters', 'records', `${this.#clusters.get(name)!.uid}.json`), 'utf8');
    return (JSON.parse(record) as { process: { pid: number } }).process.pid;
  }

  async stop(): Promise<void> {
    for (const name of this.#clusters.keys()) await this.remove(name);
    await this.#engine.stop();
  }

  #patch(name: string, spec: object): Promise<TenantCluster> {
    return this.#engine.client.resource(TenantClusterKind, TENANT).patch(name, { type: 'merge', patch: { spec } });
  }

  #until(name: string, isDone: (cluster: TenantCluster) => boolean): Promise<void> {
    return untilTrue(this.#engine.client, TenantClusterKind, TENANT, name, isDone);
  }
}

function isReady({ metadata, status }: KubeObject): boolean {
  return status?.observedGeneration === metadata.generation && isConditionTrue(status?.conditions, 'Ready');
}

/** By its watch: nothing is missed and nothing is polled. */
async function untilTrue<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  namespace: string | undefined,
  name: string,
  isDone: (object: T) => boolean,
): Promise<void> {
  const resource = client.resource(kind, namespace);
  const first = await resource.get(name).catch((error: unknown) => {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  });
  if (first && isDone(first)) return;
  for await (const update of resource.watch({ fieldSelector: `metadata.name=${name}` })) {
    if ('object' in update && update.type !== 'DELETED' && isDone(update.object)) return;
  }
}
