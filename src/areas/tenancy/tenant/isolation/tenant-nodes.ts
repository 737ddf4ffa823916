import { NODE_TENANT } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../../client/client.ts';
import { Node } from '../../../../client/kinds.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { Change, Informer } from '../../../../runtime/informer/informer.ts';
import { tenantTaint } from '../model/pin.ts';
import { FIELD_MANAGER } from '../owned-objects.ts';

/** Which node is whose: a label to be found by, a taint to keep others off. */
export class TenantNodes {
  readonly #client: Client;
  readonly #nodes: Informer;

  constructor(client: Client, nodes: Informer) {
    this.#client = client;
    this.#nodes = nodes;
  }

  all(): Iterable<KubeObject> {
    return this.#nodes.list();
  }

  of(tenant: string): string[] {
    const names: string[] = [];
    for (const { metadata } of this.#nodes.list()) if (metadata.labels?.[NODE_TENANT] === tenant) names.push(metadata.name!);
    return names.sort();
  }

  tenantOf(node: string): string | undefined {
    return this.#nodes.get(node)?.metadata.labels?.[NODE_TENANT];
  }

  async take(tenant: string, names: readonly string[]): Promise<void> {
    for (const name of names) {
      const taints = this.#foreignTaints(name, tenant);
      await this.#patch(name, { [NODE_TENANT]: tenant }, [...taints, tenantTaint(tenant)]);
    }
  }

  async release(tenant: string, names: readonly string[]): Promise<void> {
    for (const name of names) await this.#patch(name, { [NODE_TENANT]: null }, this.#foreignTaints(name, tenant));
  }

  #foreignTaints(name: string, tenant: string): Json[] {
    const taints: Json[] = this.#nodes.get(name)?.spec?.taints ?? [];
    return taints.filter(({ key, value }) => key !== NODE_TENANT || value !== tenant);
  }

  /** With the version it was decided on: two tenants that want one node must not both get it. */
  async #patch(name: string, labels: Record<string, string | null>, taints: Json[]): Promise<void> {
    const resourceVersion = this.#nodes.get(name)?.metadata.resourceVersion;
    const patch = { metadata: { resourceVersion, labels }, spec: { taints: taints.length > 0 ? taints : null } };
    try {
      await this.#client.resource(Node).patch(name, { type: 'merge', patch }, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}

/** Whether a change of a node is more than its heartbeat. */
export function isNews(change: Change<KubeObject>): boolean {
  if (change.type !== 'modified') return true;
  const { object, previous } = change;
  return (
    !deepEqual(object.metadata.labels, previous.metadata.labels) ||
    !deepEqual(object.spec, previous.spec) ||
    !deepEqual(object.status?.allocatable, previous.status?.allocatable) ||
    !deepEqual(object.status?.addresses, previous.status?.addresses)
  );
}
