import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { API_SERVICES } from '../aggregator/api-service.ts';
import type { ForeignVersion } from '../discovery/discovery.ts';
import type { ObjectWriter } from '../registry/objects.ts';
import { METRICS_RESOURCES } from './metrics-api.ts';
import { METRICS_GROUP, METRICS_VERSION } from './model/metrics-objects.ts';

const NODES = { group: '', resource: 'nodes' };
const CLUSTER_ROLES = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };
const NAME = `${METRICS_VERSION}.${METRICS_GROUP}`;
/** Whose APIService it is: what a person made or changed under the name is theirs. */
const OWN_LABEL = 'tenantry.dev/served-by';
const OWN = { [OWN_LABEL]: 'engine' };

/**
 * Keeps an APIService for our resource metrics as long as a node has something to tell and nobody else serves them. Whoever installs a
 * metrics server takes the name over, and we step aside; when it is removed we are back.
 */
export class MetricsRegistration {
  readonly #writer: ObjectWriter;
  readonly #onError: (error: unknown) => void;
  readonly #onServed: (nodes: readonly KubeObject[]) => void;
  readonly #stops: (() => void)[] = [];
  #served: readonly ForeignVersion[] | undefined;
  #work: Promise<void> = Promise.resolve();

  /** `onServed` hears of the nodes as soon as somebody may ask for them. */
  constructor(writer: ObjectWriter, onError: (error: unknown) => void, onServed: (nodes: readonly KubeObject[]) => void = () => {}) {
    this.#writer = writer;
    this.#onError = onError;
    this.#onServed = onServed;
  }

  start(): void {
    this.#stops.push(
      this.#writer.onChange(NODES, ({ type, object, previous }) => {
        // Nodes report their state all the time; only where they are reached matters here.
        if (type === 'MODIFIED' && previous && portOf(previous) === portOf(object)) return;
        this.#check();
      }),
      this.#writer.onChange(API_SERVICES, ({ object }) => {
        if (object.metadata.name !== NAME) return;
        this.#served = undefined;
        this.#check();
      }),
    );
    this.#check();
  }

  stop(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop();
    return this.#work;
  }

  /** What discovery tells of it: nothing while nobody, or somebody else, serves it. The same array until that changes. */
  versions(): readonly ForeignVersion[] {
    return (this.#served ??= this.#isServed()
      ? [{ group: METRICS_GROUP, version: METRICS_VERSION, resources: METRICS_RESOURCES, current: true }]
      : []);
  }

  #isServed(): boolean {
    const apiService = this.#writer.get(API_SERVICES, '', NAME);
    return apiService !== undefined && apiService.spec?.service === undefined;
  }

  /** One at a time, each on what is there when it runs. */
  #check(): void {
    this.#work = this.#work.then(() => this.#reconcile()).catch((error: unknown) => this.#onError(error));
  }

  async #reconcile(): Promise<void> {
    const existing = this.#writer.get(API_SERVICES, '', NAME);
    const reachable = this.#writer.list(NODES).filter((node) => portOf(node) > 0);
    const wanted = reachable.length > 0;
    if (wanted && !existing) {
      await this.#create(CLUSTER_ROLES, readerRole());
      await this.#create(API_SERVICES, apiService());
      this.#onServed(reachable);
    } else if (!wanted && existing?.metadata.labels?.[OWN_LABEL] !== undefined && existing.spec?.service === undefined) {
      await this.#writer.delete(API_SERVICES, '', NAME);
    }
  }

  async #create(resource: typeof NODES, object: KubeObject): Promise<void> {
    try {
      await this.#writer.create(resource, object);
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
  }
}

/** A node says where its kubelet is as soon as it has one. */
function portOf({ status }: KubeObject): number {
  return status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
}

function apiService(): KubeObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: NAME, labels: OWN },
    spec: { group: METRICS_GROUP, version: METRICS_VERSION, groupPriorityMinimum: 100, versionPriority: 100 },
  };
}

/** Who may view a namespace may see what it uses. */
function readerRole(): KubeObject {
  const aggregated = ['view', 'edit', 'admin'].map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']);
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'system:aggregated-metrics-reader', labels: Object.fromEntries(aggregated) },
    rules: [{ apiGroups: [METRICS_GROUP], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
  };
}
