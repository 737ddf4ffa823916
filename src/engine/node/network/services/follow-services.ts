import { EndpointSlice, Service } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { Informer } from '../../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../../runtime/informer/shared-informers.ts';
import { SERVICE_NAME_LABEL, servicePorts, type ServicePort } from './model/service-endpoints.ts';

export interface ServiceInformers {
  services: Informer;
  slices: Informer;
}

/** Indexes that Services and DNS share. */
export const BY_SERVICE = 'network/service';
export const BY_ADDRESS = 'network/address';
export const BY_NAMESPACE = 'network/namespace';

export function serviceInformers(informers: SharedInformers): ServiceInformers {
  const services = informers.get(Service);
  const slices = informers.get(EndpointSlice) as unknown as Informer;
  services.addIndex(BY_NAMESPACE, (service) => [service.metadata.namespace ?? '']);
  services.addIndex(BY_ADDRESS, (service) => service.spec?.clusterIPs ?? []);
  slices.addIndex(BY_SERVICE, serviceKeys);
  slices.addIndex(BY_ADDRESS, (slice) =>
    ((slice.endpoints ?? []) as { addresses?: string[] }[]).flatMap(({ addresses }) => addresses ?? []),
  );
  return { services, slices };
}

/** The key of the Service that a slice belongs to. */
function serviceKeys({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.[SERVICE_NAME_LABEL];
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
}

/** Tells about the ports of a Service whenever it or its endpoints changed; none when it is gone. @returns the way to stop. */
export function followServices(
  { services, slices }: ServiceInformers,
  nodeName: string | undefined,
  onChange: (key: string, ports: ServicePort[]) => void,
): () => void {
  const tell = (key: string): void => {
    const service = services.get(key);
    onChange(key, service ? servicePorts(service, slices.byIndex(BY_SERVICE, key), nodeName) : []);
  };
  const stops = [
    services.onChange(({ object }) => tell(keyOf(object))),
    slices.onChange((change) => {
      const states = change.type === 'modified' ? [change.object, change.previous] : [change.object];
      for (const key of new Set(states.flatMap(serviceKeys))) tell(key);
    }),
  ];
  return () => stops.forEach((stop) => stop());
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
