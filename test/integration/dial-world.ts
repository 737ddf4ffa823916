import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunKind, type Run, type RunSpec } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { isTerminal, phaseOf } from '../../src/api/kruntimes.io/v1alpha1/run-state.ts';
import { TenantKind } from '../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../src/client/client.ts';
import { Namespace, Pod } from '../../src/client/kinds.ts';
import type { ClusterSettings } from '../../src/main/clusters-on-demand.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import { ClusterWorld } from './clusters/cluster-world.ts';
import { RuntimePodHere } from './runs/runs-world.ts';

/** A tenant that is moved between the host and a cluster of its own, and Pods for its Runs at both places, whose programs run here. */
export class DialWorld {
  readonly clusters: ClusterWorld;
  readonly #folder = mkdtempSync(join(tmpdir(), 'tenantry-dial-'));
  readonly #pods: RuntimePodHere[] = [];

  private constructor(clusters: ClusterWorld) {
    this.clusters = clusters;
  }

  static async start(clusters?: ClusterSettings): Promise<DialWorld> {
    return new DialWorld(await ClusterWorld.start(clusters));
  }

  get host() {
    return this.clusters.host;
  }

  create(namespace: string, name: string, script: string, spec: Partial<RunSpec> = {}): Promise<Run> {
    const run = { metadata: { name }, spec: { runtime: 'here', mode: { task: { args: [script] } }, ...spec } };
    return this.host.client.resource(RunKind, namespace).create(run);
  }

  async until(namespace: string, name: string, wanted: (run: Run) => boolean): Promise<Run> {
    let last: Run | undefined;
    try {
      return await this.host.eventually(async () => {
        last = await this.host.client.resource(RunKind, namespace).get(name);
        return wanted(last) ? last : undefined;
      });
    } catch (error) {
      throw new Error(`Run "${name}" did not become as wanted: ${JSON.stringify(last)}`, { cause: error });
    }
  }

  ended(namespace: string, name: string): Promise<Run> {
    return this.until(namespace, name, (run) => isTerminal(phaseOf(run)));
  }

  /** The tenant is where it is to be. */
  settled(tenant: string, isolation: string) {
    return this.host.until(
      tenant,
      ({ metadata, status }) =>
        status?.observedGeneration === metadata.generation &&
        status?.isolation === isolation &&
        findCondition(status?.conditions, 'Ready')?.status === 'True',
    );
  }

  /** A Pod that takes Runs of the Runtime `here`. */
  async pod(client: Client, namespace: string, name: string, places = 4): Promise<RuntimePodHere> {
    await client.resource(Pod, namespace).create({
      metadata: { name, labels: { runtime: 'here' }, annotations: { 'kruntimes.io/capacity.runs': String(places) } },
      spec: { containers: [{ name: 'runtime', image: 'example/none' }], schedulerName: 'nobody' },
    });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await client.resource(Pod, namespace).status.patch(name, { type: 'merge', patch: { status } });
    const pod = new RuntimePodHere(client, name, join(this.#folder, name), undefined, undefined, namespace);
    await pod.startServer();
    await pod.startRuntimed();
    this.#pods.push(pod);
    return pod;
  }

  namespaceInside(tenantClient: Client, name: string) {
    return this.host.find(() => tenantClient.resource(Namespace).get(name));
  }

  /** Tenants go first: what they live in would be made again. */
  async stop(): Promise<void> {
    const tenants = await this.host.client.resource(TenantKind).list();
    for (const { metadata } of tenants.items) await this.host.client.resource(TenantKind).delete(metadata.name!);
    await this.host.eventually(async () => (await this.host.client.resource(TenantKind).list()).items.length === 0);
    await Promise.all(this.#pods.map((pod) => pod.stop()));
    await this.clusters.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
