import type { Json, KubeObject } from '../../../../../kube/object.ts';
import type { ServicePort } from './service-endpoints.ts';

/** The `hostPort`s of a Pod: ports of the machine that lead to it and to nothing else. */
export function hostPorts(pod: KubeObject, address: string): ServicePort[] {
  const containers = [...((pod.spec?.containers ?? []) as Json[]), ...((pod.spec?.initContainers ?? []) as Json[])];
  return containers.flatMap((container) =>
    ((container.ports ?? []) as Json[])
      .filter(({ hostPort }) => hostPort)
      .map(({ hostPort, containerPort, protocol }) => ({
        id: `${pod.metadata.namespace}/${pod.metadata.name}:${containerPort}`,
        protocol: String(protocol ?? 'TCP').toLowerCase() as ServicePort['protocol'],
        clusterIps: [],
        port: containerPort as number,
        nodePort: hostPort as number,
        endpoints: [{ address, port: containerPort as number }],
      })),
  );
}
