import type { Client } from '../../../../client/client.ts';
import { EndpointSlice, Node, Service } from '../../../../client/kinds.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { silentLog } from '../../../../lib/log.ts';
import { EventRecorder } from '../../../../runtime/event-recorder.ts';
import type { Change, Informer } from '../../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../../runtime/informer/shared-informers.ts';
import { MOST_NODES, nodeSelection, type NodeObject } from '../../workers/model/kept-objects.ts';
import { MOST_OF_SERVICES, MOST_OF_SLICES, SERVICE_NAME, serviceSelection, sliceSelection } from './model/kept-objects.ts';
import {
  idOf,
  isReady,
  type BalancedInside,
  type RecordedBalancer,
  type ServiceObject,
  type SliceObject,
} from './model/wanted-balancers.ts';

const BY_SERVICE = 'service';

/** The Services of the type LoadBalancer in one tenant's cluster. Nodes and endpoints are not looked at before there is one. */
export class TenantBalancers {
  readonly #tenantClient: Client;
  readonly #informers: SharedInformers;
  readonly #wake: () => void;
  readonly #services: Informer<ServiceObject>;
  readonly #events: EventRecorder;
  #behind: { nodes: Informer<NodeObject>; slices: Informer<SliceObject> } | undefined;

  constructor(options: { tenantClient: Client; informers: SharedInformers; wake: () => void }) {
    this.#tenantClient = options.tenantClient;
    this.#informers = options.informers;
    this.#wake = options.wake;
    this.#events = new EventRecorder({
      client: options.tenantClient,
      log: silentLog,
      controller: 'tenantry.dev/load-balancers',
      instance: 'tenantry',
    });
    this.#services = this.#informers.get(Service, serviceSelection(this.#wake));
    this.#services.onChange(this.#wake);
  }

  async inside(): Promise<BalancedInside> {
    await this.#services.whenSynced();
    const services = [...this.#services.list()];
    if (services.length === 0) return { services, nodes: [], slicesOf: () => [] };
    const { nodes, slices } = (this.#behind ??= this.#lookBehind());
    await Promise.all([nodes.whenSynced(), slices.whenSynced()]);
    return {
      services,
      nodes: [...nodes.list()],
      slicesOf: (namespace, name) => slices.byIndex(BY_SERVICE, `${namespace}/${name}`),
      surplus: this.#surplus(nodes, slices),
    };
  }

  #surplus(nodes: Informer<NodeObject>, slices: Informer<SliceObject>): string | undefined {
    const and = 'and no more are looked at; delete some';
    if (this.#services.isCut) return `its Services of the type LoadBalancer have more than ${MOST_OF_SERVICES} ports and ranges, ${and}`;
    if (slices.isCut) return `its EndpointSlices have more than ${MOST_OF_SLICES} endpoints and ports, ${and}`;
    return nodes.isCut ? `it has more than ${MOST_NODES} Nodes, ${and}` : undefined;
  }

  /** Tells those who ask for a Service where it is; `external` is where it is reached from outside too. */
  async publish({ service: id, address }: RecordedBalancer, external: string | undefined): Promise<void> {
    const service = this.#services.get(id);
    if (service === undefined) return;
    const ingress = [address, ...(external === undefined ? [] : [external])].map((ip) => ({ ip, ipMode: 'VIP' }));
    if (!deepEqual(service.status?.loadBalancer?.ingress, ingress)) await this.#tell(id, ingress);
  }

  /** Of Services that have no load balancer any more, nothing says that they have one. */
  async withdraw(id: string): Promise<void> {
    await this.#tell(id, null);
  }

  warn(id: string, message: string): void {
    const service = this.#services.get(id);
    if (service === undefined) return;
    this.#events.record({ ...service, apiVersion: 'v1', kind: 'Service' }, { type: 'Warning', reason: 'SyncLoadBalancerFailed', message });
  }

  async #tell(id: string, ingress: { ip: string; ipMode: string }[] | null): Promise<void> {
    const [namespace, name] = id.split('/');
    try {
      await this.#tenantClient
        .resource(Service, namespace)
        .status.patch(name, { type: 'merge', patch: { status: { loadBalancer: { ingress } } } });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }

  #lookBehind(): { nodes: Informer<NodeObject>; slices: Informer<SliceObject> } {
    const nodes = this.#informers.get(Node, nodeSelection(this.#wake));
    const slices = this.#informers.get(EndpointSlice, sliceSelection(this.#wake));
    slices.addIndex(BY_SERVICE, (slice) => [serviceOf(slice)]);
    nodes.onChange((change) => {
      if (change.type !== 'modified' || isReady(change.previous) !== isReady(change.object)) this.#wake();
    });
    slices.onChange((change: Change<SliceObject>) => {
      if (this.#services.get(serviceOf(change.object)) !== undefined) this.#wake();
    });
    return { nodes, slices };
  }
}

function serviceOf({ metadata }: SliceObject): string {
  return idOf({ metadata: { namespace: metadata.namespace, name: metadata.labels?.[SERVICE_NAME] ?? '' } });
}
