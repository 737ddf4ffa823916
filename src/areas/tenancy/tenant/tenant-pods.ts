import { NODE_POOL_ANNOTATION } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { PlanFacts, PodFact } from '../../../api/tenantry.dev/v1alpha1/plan.ts';
import { planFacts } from '../../../api/tenantry.dev/v1alpha1/plan-facts.ts';
import type { Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { Pod } from '../../../client/kinds.ts';
import type { KubeObject, Json } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import type { MovePorts } from './isolation/move-pods.ts';
import type { TenantNodes } from './isolation/tenant-nodes.ts';
import type { Eviction } from './model/next-eviction.ts';
import { pinned, unpinned } from './model/pin.ts';
import type { TenantNamespaces } from './tenant-namespaces.ts';
import type { TenantWorkloads } from './tenant-workloads.ts';
import { untilSynced } from './until-synced.ts';

/** The Pods of the cluster, followed from the first tenant on that wants nodes of its own. */
export class TenantPods implements MovePorts {
  readonly #environment: TenancyEnvironment;
  readonly #namespaces: TenantNamespaces;
  readonly #nodes: TenantNodes;
  readonly #workloads: TenantWorkloads;
  /** Tenants whose DaemonSets are known to be as wanted since this process started. */
  readonly #templates = new Map<string, 'pinned' | 'unpinned'>();
  readonly evictions = new Map<string, Map<string, Eviction>>();
  readonly moving = new Set<string>();
  #onFollow: (pods: Informer) => void = () => {};
  #pods: Informer | undefined;

  constructor(environment: TenancyEnvironment, parts: { namespaces: TenantNamespaces; nodes: TenantNodes; workloads: TenantWorkloads }) {
    this.#environment = environment;
    this.#namespaces = parts.namespaces;
    this.#nodes = parts.nodes;
    this.#workloads = parts.workloads;
  }

  /** Told the informer when it is needed for the first time. */
  onFollow(listener: (pods: Informer) => void): void {
    this.#onFollow = listener;
  }

  async facts(tenant: Tenant): Promise<PlanFacts> {
    const name = tenant.metadata.name!;
    const pods = await this.#followed();
    const nodes = [...this.#nodes.all()];
    // Those of nodes that are or may become the tenant's, and where their successors will be; what else runs elsewhere is of no interest.
    const here = nodes.filter((node) => this.#mayBelong(node, tenant)).flatMap((node) => pods.byIndex('node', node.metadata.name!));
    const namespaces = new Set([...this.#namespaces.of(name), ...here.map(({ metadata }) => metadata.namespace!)]);
    const { forest } = this.#environment;
    return planFacts({
      nodes,
      pods: [...namespaces].flatMap((namespace) => pods.byIndex('namespace', namespace)),
      // Whether a budget lets a Pod go is asked when it is to go.
      disruptionBudgets: [],
      tenantOf: (namespace) => forest.get(namespace)?.tenant,
      isPlatform: (namespace) => forest.get(namespace)?.isManaged !== true,
    });
  }

  isPinned(tenant: string): boolean {
    return this.#namespaces.annotationOf(tenant, NODE_POOL_ANNOTATION) !== undefined;
  }

  async pin(tenant: string): Promise<void> {
    await this.#namespaces.annotate(tenant, NODE_POOL_ANNOTATION, tenant);
    await this.#template(tenant, 'pinned');
  }

  async unpin(tenant: string): Promise<void> {
    await this.#namespaces.annotate(tenant, NODE_POOL_ANNOTATION, null);
    await this.#template(tenant, 'unpinned');
  }

  /** DaemonSets that come later are admission's; those that are there are looked at once. */
  async #template(tenant: string, wanted: 'pinned' | 'unpinned'): Promise<void> {
    if (this.#templates.get(tenant) === wanted) return;
    const change = wanted === 'pinned' ? pinned : unpinned;
    await this.#workloads.patchDaemonSets(this.#namespaces.of(tenant), (object) => templatePatch(object, (spec) => change(spec, tenant)));
    this.#templates.set(tenant, wanted);
  }

  ownNodes(tenant: string): string[] {
    return this.#nodes.of(tenant);
  }

  takeNodes(tenant: string, nodes: readonly string[]): Promise<void> {
    return this.#nodes.take(tenant, nodes);
  }

  releaseNodes(tenant: string, nodes: readonly string[]): Promise<void> {
    return this.#nodes.release(tenant, nodes);
  }

  readonly evict = async ({ namespace, name }: PodFact): Promise<boolean> => {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
    try {
      const evictions = this.#environment.client.resource(Pod, namespace).subresource('eviction');
      await evictions.create(name, eviction);
      return true;
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return true;
      // The server says 429 when a budget keeps the Pod.
      if (isStatusError(error, 'TooManyRequests')) return false;
      throw error;
    }
  };

  #mayBelong({ metadata: { name, labels = {} } }: KubeObject, { metadata, spec }: Tenant): boolean {
    if (this.#nodes.tenantOf(name!) === metadata.name || spec.nodePool?.names?.includes(name!)) return true;
    const wanted = Object.entries(spec.nodePool?.matchLabels ?? {});
    return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
  }

  async #followed(): Promise<Informer> {
    if (!this.#pods) {
      this.#pods = this.#environment.informers.get(Pod);
      this.#pods.addIndex('namespace', ({ metadata }) => [metadata.namespace!]);
      this.#pods.addIndex('node', ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
      this.#onFollow(this.#pods);
    }
    return untilSynced(this.#pods, this.#environment.clock);
  }
}

function templatePatch({ metadata, spec }: KubeObject, change: (podSpec: Json) => Json): Json {
  const before = spec.template.spec;
  const after = change(before);
  if (after === before) return undefined;
  const nodeSelector = Object.fromEntries(
    Object.keys({ ...before.nodeSelector, ...after.nodeSelector }).map((key) => [key, after.nodeSelector?.[key] ?? null]),
  );
  const { resourceVersion } = metadata;
  return { metadata: { resourceVersion }, spec: { template: { spec: { nodeSelector, tolerations: after.tolerations } } } };
}
