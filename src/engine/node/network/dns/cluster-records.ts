import type { ServiceInformers } from '../services/follow-services.ts';
import { BY_ADDRESS, BY_NAMESPACE, BY_SERVICE } from '../services/follow-services.ts';
import type { ClusterRecords } from './model/cluster-zone.ts';

/** The zone, read from the caches at the moment of the question. */
export function clusterRecords(
  { services, slices }: ServiceInformers,
  hasPod: (namespace: string, address: string) => boolean,
): ClusterRecords {
  return {
    service: (namespace, name) => services.find(namespace, name),
    hasServices: (namespace) => services.byIndex(BY_NAMESPACE, namespace).length > 0,
    slices: (namespace, service) => slices.byIndex(BY_SERVICE, `${namespace}/${service}`),
    servicesAt: (address) => services.byIndex(BY_ADDRESS, address),
    slicesWith: (address) => slices.byIndex(BY_ADDRESS, address),
    hasPod,
  };
}
