import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { CustomResourceDefinition, EndpointSlice, Service } from '../../../client/kinds.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { CiliumClusterwideNetworkPolicy } from './model/cilium-policy.ts';
import { apiAddresses, excludedRanges } from './model/cluster-ranges.ts';
import type { NetworkFacts } from './model/network-policies.ts';

/** What policies must know of the cluster, kept by informers of very few objects. */
export class NetworkOfCluster {
  readonly service: Informer<KubeObject>;
  readonly slices: Informer<KubeObject>;
  readonly definitions: Informer<KubeObject>;
  readonly #nodes: Informer<KubeObject>;

  constructor({ informers }: Pick<TenancyEnvironment, 'informers'>, nodes: Informer<KubeObject>) {
    this.#nodes = nodes;
    const api = { namespace: 'default' };
    this.service = informers.get(Service as Kind, { ...api, fieldSelector: 'metadata.name=kubernetes' });
    this.slices = informers.get(EndpointSlice as Kind, { ...api, labelSelector: 'kubernetes.io/service-name=kubernetes' });
    this.definitions = informers.get(CustomResourceDefinition as Kind, { metadataOnly: true });
  }

  facts(): NetworkFacts {
    return {
      api: apiAddresses(this.service.find('default', 'kubernetes'), this.slices.list()),
      excluded: excludedRanges(this.#nodes.list()),
    };
  }

  hasCilium(): boolean {
    const { plural, group } = CiliumClusterwideNetworkPolicy;
    return this.definitions.get(`${plural}.${group}`) !== undefined;
  }
}
