import type { Json, KubeObject } from '../../../../../kube/object.ts';
import type { Protocol } from './compiled-policy.ts';

/** What policies need to know of a Pod. */
export interface PolicyPod {
  uid: string;
  namespace: string;
  name: string;
  labels: Record<string, string>;
  addresses: readonly string[];
  ports: readonly { name: string; protocol: Protocol; number: number }[];
  /** Policies that select it hold for it. Not for Pods in the machine's network: their address is everybody's. */
  subject: boolean;
}

export function policyPodOf(pod: KubeObject, addresses: readonly string[]): PolicyPod {
  return {
    uid: pod.metadata.uid ?? '',
    namespace: pod.metadata.namespace ?? '',
    name: pod.metadata.name ?? '',
    labels: pod.metadata.labels ?? {},
    addresses,
    ports: namedPorts(pod.spec),
    subject: pod.spec?.hostNetwork !== true,
  };
}

/** Ports of sidecars count, those of init containers that end do not. */
function namedPorts(spec: Json): { name: string; protocol: Protocol; number: number }[] {
  const sidecars = ((spec?.initContainers ?? []) as Json[]).filter((container) => container.restartPolicy === 'Always');
  return [...((spec?.containers ?? []) as Json[]), ...sidecars].flatMap((container) =>
    ((container.ports ?? []) as Json[])
      .filter((port) => port.name)
      .map((port) => ({
        name: port.name as string,
        protocol: String(port.protocol ?? 'TCP').toLowerCase() as Protocol,
        number: port.containerPort as number,
      })),
  );
}

/** Whether policies would see a difference. */
export function samePolicyPod(a: PolicyPod, b: PolicyPod): boolean {
  return a.subject === b.subject && JSON.stringify([a.labels, a.addresses, a.ports]) === JSON.stringify([b.labels, b.addresses, b.ports]);
}
