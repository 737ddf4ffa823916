import type { Json, KubeObject } from '../../../../../kube/object.ts';

export interface ServiceEndpoint {
  address: string;
  port: number;
}

/** One port of a Service with the places that answer it. */
export interface ServicePort {
  /** `namespace/name:port`. */
  id: string;
  protocol: 'tcp' | 'udp' | 'sctp';
  clusterIps: string[];
  port: number;
  nodePort?: number;
  /** Seconds for which a client stays with the same endpoint. */
  affinitySeconds?: number;
  endpoints: ServiceEndpoint[];
}

const DEFAULT_AFFINITY_SECONDS = 10_800;

/** Slices belong to the Service that this label names. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** What the node does for a Service; nothing for headless ones and for names of elsewhere. `nodeName` decides what is local. */
export function servicePorts(service: KubeObject, slices: readonly KubeObject[], nodeName?: string): ServicePort[] {
  const spec = service.spec ?? {};
  if (spec.type === 'ExternalName') return [];
  const clusterIps = ((spec.clusterIPs ?? [spec.clusterIP]) as (string | undefined)[]).filter(
    (ip): ip is string => ip !== undefined && ip !== 'None' && /^[\d.]+$/.test(ip),
  );
  if (clusterIps.length === 0) return [];
  const affinity = spec.sessionAffinity === 'ClientIP';
  const local = spec.internalTrafficPolicy === 'Local' ? nodeName : undefined;
  return ((spec.ports ?? []) as Json[]).map((port) => ({
    id: `${service.metadata.namespace}/${service.metadata.name}:${port.name || port.port}`,
    protocol: String(port.protocol ?? 'TCP').toLowerCase() as ServicePort['protocol'],
    clusterIps,
    port: port.port,
    ...(port.nodePort ? { nodePort: port.nodePort as number } : {}),
    ...(affinity ? { affinitySeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS } : {}),
    endpoints: endpointsOf(port, slices, local),
  }));
}

/** Endpoints that are ready; when none is, those that still answer while they end, as kube-proxy has it. */
function endpointsOf(servicePort: Json, slices: readonly KubeObject[], localNode: string | undefined): ServiceEndpoint[] {
  const ready = new Map<string, ServiceEndpoint>();
  const ending = new Map<string, ServiceEndpoint>();
  for (const slice of slices) {
    if (slice.addressType !== 'IPv4') continue;
    const port = ((slice.ports ?? []) as Json[]).find(
      ({ name, protocol }) => (name ?? '') === (servicePort.name ?? '') && (protocol ?? 'TCP') === (servicePort.protocol ?? 'TCP'),
    );
    if (!port?.port) continue;
    for (const { addresses, conditions, nodeName } of (slice.endpoints ?? []) as Json[]) {
      if (localNode !== undefined && nodeName !== localNode) continue;
      const address = addresses?.[0] as string | undefined;
      if (address === undefined) continue;
      const key = `${address}:${port.port}`;
      if (conditions?.ready !== false) ready.set(key, { address, port: port.port });
      else if (conditions.serving && conditions.terminating) ending.set(key, { address, port: port.port });
    }
  }
  const chosen = ready.size > 0 ? ready : ending;
  return [...chosen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint);
}
