import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KUBECONFIG_KEY, kubeconfigSecretOf } from '../../../src/api/tenantry.dev/v1alpha1/cluster-names.ts';
import { ClusterPolicyKind, type ClusterPolicy } from '../../../src/api/tenantry.dev/v1alpha1/cluster-policy.ts';
import { TenantClusterKind, type TenantCluster } from '../../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { parseKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { Secret } from '../../../src/client/kinds.ts';
import { findCondition } from '../../../src/kube/conditions.ts';
import type { ClusterSettings } from '../../../src/main/clusters-on-demand.ts';
import { TenantWorld } from '../../conformance/tenancy/tenant-world.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';

/** An engine with areas, and what tests of tenants' clusters ask of it. */
export class ClusterWorld {
  readonly host: TenantWorld;
  readonly target: EmbeddedTarget;
  readonly #clients: Client[] = [];

  private constructor(target: EmbeddedTarget, host: TenantWorld) {
    this.target = target;
    this.host = host;
  }

  static async start(clusters?: ClusterSettings): Promise<ClusterWorld> {
    const target = await startEmbeddedTarget(ownCustomResourceDefinitions, { clusters });
    return new ClusterWorld(target, await TenantWorld.over(target));
  }

  create(namespace: string, name: string, spec: TenantCluster['spec'] = {}, client = this.host.client): Promise<TenantCluster> {
    return client.resource(TenantClusterKind, namespace).create({ metadata: { name }, spec });
  }

  patch(namespace: string, name: string, spec: object): Promise<TenantCluster> {
    return this.host.client.resource(TenantClusterKind, namespace).patch(name, { type: 'merge', patch: { spec } });
  }

  get(namespace: string, name: string): Promise<TenantCluster> {
    return this.host.client.resource(TenantClusterKind, namespace).get(name);
  }

  policy(spec: object, name = 'default'): Promise<ClusterPolicy> {
    return this.host.client.resource(ClusterPolicyKind).patch(name, { type: 'merge', patch: { spec } });
  }

  async until(namespace: string, name: string, wanted: (cluster: TenantCluster) => boolean): Promise<TenantCluster> {
    let last: TenantCluster | undefined;
    try {
      return await this.host.eventually(async () => {
        last = await this.get(namespace, name);
        return wanted(last) ? last : undefined;
      });
    } catch (error) {
      throw new Error(`TenantCluster "${name}" did not become as wanted: ${JSON.stringify(last?.status)}`, { cause: error });
    }
  }

  /** Once it is ready for what its spec says now. */
  ready(namespace: string, name: string): Promise<TenantCluster> {
    return this.until(namespace, name, (cluster) => isSettled(cluster) && conditionOf(cluster, 'Ready')?.status === 'True');
  }

  async made(namespace: string, name: string, spec: TenantCluster['spec'] = {}): Promise<{ cluster: TenantCluster; tenantClient: Client }> {
    await this.create(namespace, name, spec);
    const cluster = await this.ready(namespace, name);
    return { cluster, tenantClient: await this.inside(namespace, name) };
  }

  /** As an administrator of the tenant's cluster, by the kubeconfig that it hands out now. */
  async inside(namespace: string, name: string): Promise<Client> {
    const secret = await this.host.client.resource(Secret, namespace).get(kubeconfigSecretOf(name));
    const text = Buffer.from(secret.data![KUBECONFIG_KEY], 'base64').toString('utf8');
    const client = createClient(await connectContext(resolveContext(await parseKubeconfig(text))));
    this.#clients.push(client);
    return client;
  }

  async gone(namespace: string, name: string): Promise<void> {
    await this.host.find(() => this.host.client.resource(TenantClusterKind, namespace).delete(name));
    await this.host.eventually(async () => (await this.host.find(() => this.get(namespace, name))) === undefined);
  }

  processOf({ metadata }: TenantCluster): number {
    const record = readFileSync(join(this.target.data, 'clusters', 'records', `${metadata.uid}.json`), 'utf8');
    return (JSON.parse(record) as { process: { pid: number } }).process.pid;
  }

  async stop(): Promise<void> {
    const clusters = await this.host.client.resource(TenantClusterKind).list();
    await Promise.all(clusters.items.map(({ metadata }) => this.gone(metadata.namespace!, metadata.name!)));
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.host.stop();
  }
}

export function conditionOf({ status }: TenantCluster, type: string) {
  return findCondition(status?.conditions, type);
}

export function isSettled({ metadata, status }: TenantCluster): boolean {
  return status?.observedGeneration === metadata.generation;
}
