import type { Json, KubeObject } from '../../../kube/object.ts';

/**
 * Where a container finds the Services of its namespace. Those of the API server's own Service are always there: programs in Pods find
 * the API by them.
 */
export function serviceVariables(services: Iterable<KubeObject>, namespace: string, enableServiceLinks: boolean): Map<string, string> {
  const chosen = new Map<string, KubeObject>();
  for (const service of services) {
    if (!hasAddress(service)) continue;
    const { name = '', namespace: home } = service.metadata;
    if (home === 'default' && name === 'kubernetes') {
      if (!chosen.has(name)) chosen.set(name, service);
    } else if (home === namespace && enableServiceLinks) chosen.set(name, service);
  }
  const variables = new Map<string, string>();
  for (const service of chosen.values()) addVariables(service, variables);
  return variables;
}

/** The Services, the API server's own with the address where it is really reached from here. */
export function withApiServer(
  services: Iterable<KubeObject>,
  apiServer: { address: string; port: number } | undefined,
): Iterable<KubeObject> {
  if (apiServer === undefined) return services;
  return Array.from(services, (service) => {
    const { name, namespace } = service.metadata;
    if (namespace !== 'default' || name !== 'kubernetes') return service;
    const [first, ...rest]: Json[] = service.spec?.ports ?? [];
    return { ...service, spec: { ...service.spec, clusterIP: apiServer.address, ports: [{ ...first, port: apiServer.port }, ...rest] } };
  });
}

/** Headless Services and those of type ExternalName have no address to tell. */
function hasAddress({ spec }: KubeObject): boolean {
  return Boolean(spec?.clusterIP) && spec.clusterIP !== 'None' && spec.ports?.length > 0;
}

function addVariables(service: KubeObject, variables: Map<string, string>): void {
  const prefix = variableName(service.metadata.name!);
  const { clusterIP, ports }: { clusterIP: string; ports: Json[] } = service.spec;
  variables.set(`${prefix}_SERVICE_HOST`, clusterIP);
  variables.set(`${prefix}_SERVICE_PORT`, String(ports[0].port));
  for (const { name, port } of ports) if (name) variables.set(`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port));
  // The names that links of Docker had.
  const host = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP;
  for (const [index, { port, protocol = 'TCP' }] of ports.entries()) {
    const lower = protocol.toLowerCase();
    const address = `${lower}://${host}:${port}`;
    if (index === 0) variables.set(`${prefix}_PORT`, address);
    const own = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    variables.set(own, address);
    variables.set(`${own}_PROTO`, lower);
    variables.set(`${own}_PORT`, String(port));
    variables.set(`${own}_ADDR`, clusterIP);
  }
}

function variableName(name: string): string {
  return name.replaceAll('-', '_').toUpperCase();
}
