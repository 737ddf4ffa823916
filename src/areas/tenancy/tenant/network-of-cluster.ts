import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { CustomResourceDefinition, EndpointSlice, Service } from '../../../client/kinds.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { CiliumClusterwideNetworkPolicy } from './model/cilium-policy.ts';
import { apiAddresses, excludedRanges } from './model/cluster-ranges.ts';
import type { NetworkFacts } from './model/network-policies.ts';

/** As objects like any other: only a few fields of them are read. */
const [Services, Slices, Definitions]: Kind[] = [Service, EndpointSlice, CustomResourceDefinition];

/** What policies must know of the cluster, kept by informers of very few objects. */
export class NetworkOfCluster {
  readonly service: Informer;
  readonly slices: Informer;
  readonly definitions: Informer;
  readonly #nodes: Informer;

  constructor({ informers }: Pick<TenancyEnvironment, 'informers'>, nodes: Informer) {
    this.#nodes = nodes;
    const api = { namespace: 'default' };
    this.service = informers.get(Services, { ...api, fieldSelector: 'metadata.name=kubernetes' });
    this.slices = informers.get(Slices, { ...api, labelSelector: 'kubernetes.io/service-name=kubernetes' });
    this.definitions = informers.get(Definitions, { metadataOnly: true });
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
