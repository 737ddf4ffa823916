import { createHash } from 'node:crypto';
import { PLACED_FROM_LABEL, WORKLOAD_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import {
  Deployment,
  HorizontalPodAutoscaler,
  LimitRange,
  Namespace,
  NetworkPolicy,
  Node,
  Pod,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from '../../../client/kinds.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { FIELD_MANAGER } from '../installation/plugin-objects.ts';
import { TOKEN_SECRET } from '../identity/plugin-tokens.ts';
import { deploymentSelection, isUsable, nodeSelection, podSelection } from './model/kept-objects.ts';
import type { TenantHome } from './tenant-home.ts';

const KINDS: ReadonlyMap<string, Kind> = new Map(
  [LimitRange, NetworkPolicy, ServiceAccount, Secret, RoleBinding, Service, Deployment, HorizontalPodAutoscaler].map((kind) => [
    kind.kind,
    kind as Kind,
  ]),
);
/** What administrators of the cluster change is put back after so long: a watch of it would hold as much as they care to write. */
export const PUT_BACK_MS = 60_000;
const MOST_NAMESPACES = 1000;
/** Of one kind in one namespace: there are a few of ours. */
const PAGE = 100;
const BY_WORKLOAD = 'workload';
const BY_NAMESPACE = 'namespace';

export interface InsideOptions {
  tenant: string;
  home: TenantHome;
  clock: Clock;
  /** Something in this namespace, or (without one) of the cluster, may be other than it was. */
  wake(namespace?: string): void;
}

/** What the platform has of plugins in the cluster of one tenant. Only what became of it is read, in a form of bounded size. */
export class InsideCluster {
  readonly home: TenantHome;
  readonly #options: InsideOptions;
  readonly #informers: SharedInformers;
  readonly #deployments: Informer;
  readonly #pods: Informer;
  readonly #nodes: Informer;
  readonly #namespaces: Informer;
  readonly #applied = new Map<string, { hash: string; at: number }>();
  readonly #names = new Map<string, string>();

  constructor(options: InsideOptions) {
    const { tenant, home, wake } = options;
    this.#options = options;
    this.home = home;
    const informers = new SharedInformers({ client: home.client, log: silentLog });
    this.#informers = informers;
    this.#deployments = informers.get(Deployment, deploymentSelection(tenant));
    this.#pods = informers.get(Pod, podSelection(tenant));
    this.#nodes = informers.get(Node, nodeSelection());
    this.#namespaces = informers.get(Namespace, {
      metadataOnly: true,
      labelSelector: `${PLACED_FROM_LABEL}=${tenant}`,
      transform: withoutMore,
      ceiling: { weight: MOST_NAMESPACES },
    });
    this.#pods.addIndex(BY_WORKLOAD, ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[WORKLOAD_LABEL]}`]);
    this.#deployments.addIndex(BY_NAMESPACE, ({ metadata }) => [metadata.namespace!]);
    for (const informer of [this.#deployments, this.#pods]) informer.onChange(({ object }) => wake(object.metadata.namespace));
    this.#namespaces.onChange(({ object }) => wake(object.metadata.name));
    let hadWorkers = this.hasWorkers;
    this.#nodes.onChange(() => {
      if (hadWorkers !== this.hasWorkers) wake();
      hadWorkers = this.hasWorkers;
    });
    for (const informer of this.#all)
      void informer.whenSynced().then(
        () => wake(),
        () => {},
      );
  }

  get #all(): Informer[] {
    return [this.#deployments, this.#pods, this.#nodes, this.#namespaces];
  }

  /** Everything was listed. */
  get isKnown(): boolean {
    return this.#all.every(({ synced }) => synced);
  }

  /** Why nothing can be concluded from what is there. */
  get surplus(): string | undefined {
    const isCut = this.#all.some((informer) => informer.isCut);
    return isCut
      ? `cluster "${this.home.cluster}" has more Pods, Deployments or namespaces of plugins than are looked at; delete some`
      : undefined;
  }

  get hasWorkers(): boolean {
    if (this.home.workers > 0) return true;
    for (const node of this.#nodes.list()) if (isUsable(node)) return true;
    return false;
  }

  get namespaces(): string[] {
    return Array.from(this.#namespaces.list(), ({ metadata }) => metadata.name!);
  }

  has(namespace: string): boolean {
    return this.#namespaces.get(namespace) !== undefined;
  }

  deployments(namespace: string): KubeObject[] {
    return this.#deployments.byIndex(BY_NAMESPACE, namespace);
  }

  deployment(namespace: string, name: string): KubeObject | undefined {
    return this.#deployments.find(namespace, name);
  }

  pods(namespace: string, workload: string): KubeObject[] {
    return this.#pods.byIndex(BY_WORKLOAD, `${namespace}/${workload}`);
  }

  /** Makes these the objects of ours in the namespace, and no others. */
  async keep(namespace: KubeObject, objects: readonly KubeObject[]): Promise<void> {
    const name = namespace.metadata.name!;
    if (!this.has(name)) this.#forget(name);
    await this.#apply(Namespace, undefined, namespace);
    for (const object of objects) await this.#apply(KINDS.get(object.kind)!, name, object);
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    if (this.#names.get(name) === names.join()) return;
    await this.#prune(name, new Set(names));
    this.#names.set(name, names.join());
  }

  /** Ends what runs there, and takes its token: for when nobody knows what it is. */
  async removeWorkloads(namespace: string): Promise<void> {
    if (!this.has(namespace)) return;
    this.#forget(namespace);
    await this.#delete(Secret, namespace, TOKEN_SECRET);
    for (const { metadata } of this.deployments(namespace)) {
      await this.#delete(HorizontalPodAutoscaler, namespace, metadata.name!);
      await this.#delete(Deployment, namespace, metadata.name!);
    }
  }

  async remove(namespace: string): Promise<void> {
    const found = this.#namespaces.get(namespace);
    this.#forget(namespace);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
    await this.#delete(Namespace, undefined, namespace, found.metadata.uid);
  }

  async stop(): Promise<void> {
    await this.#informers.stop();
  }

  #forget(namespace: string): void {
    this.#names.delete(namespace);
    for (const key of this.#applied.keys()) if (key.startsWith(`${namespace}/`)) this.#applied.delete(key);
  }

  async #apply(kind: Kind, namespace: string | undefined, object: KubeObject): Promise<void> {
    const { clock } = this.#options;
    const key = `${namespace ?? object.metadata.name}/${object.kind}/${object.metadata.name}`;
    const hash = createHash('sha256').update(JSON.stringify(object)).digest('base64');
    const last = this.#applied.get(key);
    if (last?.hash === hash && clock.now() - last.at < PUT_BACK_MS) return;
    const resource = this.home.client.resource<KubeObject>(kind, namespace);
    const owner = { fieldManager: FIELD_MANAGER, force: true };
    try {
      await resource.apply(object, owner);
    } catch (error) {
      // What cannot be changed was made by somebody else, or by an administrator: it is made anew.
      if (!isStatusError(error, 'Invalid')) throw error;
      await this.#delete(kind, namespace, object.metadata.name!);
      await resource.apply(object, owner);
    }
    this.#applied.set(key, { hash, at: clock.now() });
  }

  async #prune(namespace: string, wanted: ReadonlySet<string>): Promise<void> {
    const labelSelector = `${PLACED_FROM_LABEL}=${this.#options.tenant}`;
    for (const kind of KINDS.values()) {
      const { items } = await this.home.client.metadata(kind, namespace).list({ labelSelector, limit: PAGE });
      for (const { metadata } of items)
        if (!wanted.has(`${kind.kind}/${metadata.name}`)) await this.#delete(kind, namespace, metadata.name!);
    }
  }

  async #delete(kind: Kind<never> | Kind, namespace: string | undefined, name: string, uid?: string): Promise<void> {
    try {
      await this.home.client.resource(kind, namespace).delete(name, uid === undefined ? {} : { preconditions: { uid } });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}

function withoutMore({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, deletionTimestamp } = metadata;
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, ...(deletionTimestamp && { deletionTimestamp }) } };
}
