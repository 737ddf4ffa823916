import { HierarchyConfigurationKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HncConfigurationKind, type HncConfiguration } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { CONFIG_NAME, HIERARCHY_NAME } from '../../../src/api/hnc.x-k8s.io/v1alpha2/names.ts';
import { followForest } from '../../../src/areas/tenancy/forest/follow-forest.ts';
import type { Forest } from '../../../src/areas/tenancy/forest/forest.ts';
import { configurationStatusController } from '../../../src/areas/tenancy/propagation/configuration-status.controller.ts';
import { followConfiguration } from '../../../src/areas/tenancy/propagation/follow-configuration.ts';
import { propagationController } from '../../../src/areas/tenancy/propagation/propagation.controller.ts';
import type { PropagatedTypes } from '../../../src/areas/tenancy/propagation/propagated-types.ts';
import type { Client } from '../../../src/client/client.ts';
import { ConfigMap, Namespace } from '../../../src/client/kinds.ts';
import type { ObjectMeta } from '../../../src/kube/object.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';

/** Propagation alone, on an API server with the definitions of the tree: parents are written as they stand, nobody checks them. */
export class PropagationWorld {
  readonly client: Client;
  readonly forest: Forest;
  readonly types: PropagatedTypes;
  readonly #stop: () => Promise<void>;

  private constructor(client: Client, forest: Forest, types: PropagatedTypes, stop: () => Promise<void>) {
    this.client = client;
    this.forest = forest;
    this.types = types;
    this.#stop = stop;
  }

  static async start(client: Client): Promise<PropagationWorld> {
    const options = { client, clock: realClock, log: silentLog, metrics: new MetricsRegistry() };
    const informers = new SharedInformers(options);
    const forest = await followForest(informers);
    const { types, stop } = await followConfiguration({ ...options, informers });
    const environment = { ...options, informers, forest, types } as Parameters<typeof propagationController>[0];
    const controllers = [propagationController(environment), configurationStatusController(environment)];
    for (const controller of controllers) controller.start();
    return new PropagationWorld(client, forest, types, async () => {
      await Promise.all(controllers.map((controller) => controller.stop()));
      await stop();
      await informers.stop();
    });
  }

  async namespace(name: string, parent?: string, labels: Record<string, string> = {}): Promise<void> {
    await this.client.resource(Namespace).create({ metadata: { name, labels } });
    if (parent !== undefined) await this.move(name, parent);
  }

  /** An empty parent makes it a root. */
  async move(name: string, parent: string): Promise<void> {
    const object = { metadata: { name: HIERARCHY_NAME, namespace: name }, spec: { parent } };
    await this.client.resource(HierarchyConfigurationKind, name).apply(object, { fieldManager: 'test', force: true });
  }

  async configure(resources: HncConfiguration['spec']['resources']): Promise<void> {
    await this.client
      .resource(HncConfigurationKind)
      .apply({ metadata: { name: CONFIG_NAME }, spec: { resources } }, { fieldManager: 'test', force: true });
  }

  configuration(): Promise<HncConfiguration | undefined> {
    return this.client
      .resource(HncConfigurationKind)
      .get(CONFIG_NAME)
      .catch(() => undefined);
  }

  async configMap(namespace: string, name: string, data: Record<string, string>, metadata: ObjectMeta = {}): Promise<void> {
    const object = { metadata: { ...metadata, name, namespace }, data };
    await this.client.resource(ConfigMap, namespace).apply(object, { fieldManager: 'test', force: true });
  }

  /** The data of the ConfigMaps of a name, by namespace. */
  async copies(name: string): Promise<Record<string, Record<string, string>>> {
    const { items } = await this.client.resource(ConfigMap).list({ fieldSelector: `metadata.name=${name}` });
    return Object.fromEntries(items.map(({ metadata, data }) => [metadata.namespace!, data ?? {}]));
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}
