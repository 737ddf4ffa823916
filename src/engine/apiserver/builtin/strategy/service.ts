import { invalid, type FieldError } from '../../../../kube/field-error.ts';
import { semanticEqual } from '../../../../kube/json-value.ts';
import type { Json } from '../../../../kube/object.ts';
import { failure, invalidError } from '../../../../kube/status.ts';
import { AllocationError, type ServiceAllocator } from '../service-allocator.ts';
import type { KindBehaviour } from './standard.ts';

/** Services get addresses and ports on their way in; the allocator says which are free. */
export function serviceBehaviour(allocator: ServiceAllocator): KindBehaviour {
  return {
    nameRule: 'dns1035-label',
    allowCreateOnUpdate: true,
    addsFields: true,
    onCreate(service) {
      const { spec } = service;
      if (spec.clusterIP && !spec.clusterIPs) spec.clusterIPs = [spec.clusterIP];
      if (spec.type !== 'ExternalName') {
        setFamilies(service, undefined);
        allocateAddress(service, allocator);
      }
      allocatePorts(service, new Set(), allocator);
    },
    onUpdate(service, old) {
      dropOutdated(service, old);
      normalizeAddresses(service.spec, old.spec);
      keepAllocated(service.spec, old.spec);
      if (service.spec.type !== 'ExternalName') {
        setFamilies(service, old);
        if (old.spec.type === 'ExternalName') allocateAddress(service, allocator);
      }
      allocatePorts(service, portsOf(old.spec), allocator);
    },
  };
}

function refuse(service: Json, error: FieldError): never {
  throw invalidError({ group: '', kind: 'Service' }, service.metadata.name ?? '', [error]);
}

function setFamilies(service: Json, old: Json): void {
  const { spec } = service;
  const isBare = spec.clusterIP === 'None' && !spec.selector;
  spec.ipFamilyPolicy ??= old?.spec.ipFamilyPolicy ?? (isBare ? 'RequireDualStack' : 'SingleStack');
  if (isBare) {
    spec.ipFamilies ??= ['IPv4'];
    if (spec.ipFamilies.length < 2 && spec.ipFamilyPolicy !== 'SingleStack') {
      spec.ipFamilies = [...spec.ipFamilies, spec.ipFamilies[0] === 'IPv4' ? 'IPv6' : 'IPv4'];
    }
    return;
  }
  if (spec.ipFamilyPolicy === 'RequireDualStack') {
    refuse(service, invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services'));
  }
  (spec.ipFamilies ?? []).forEach((family: string, index: number) => {
    if (family !== 'IPv4') refuse(service, invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'));
  });
  spec.ipFamilies ??= ['IPv4'];
}

function allocateAddress(service: Json, allocator: ServiceAllocator): void {
  const { spec } = service;
  if (spec.clusterIPs?.[0] === 'None') return;
  const wanted = spec.clusterIPs?.[0];
  if (!wanted) {
    spec.clusterIP = attempt(
      () => allocator.nextAddress(),
      (message) => {
        throw failure('InternalError', `Internal error occurred: failed to allocate a serviceIP: ${message}`);
      },
    );
    spec.clusterIPs = [spec.clusterIP];
    return;
  }
  attempt(
    () => allocator.takeAddress(wanted),
    (message) => refuse(service, invalid('spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${wanted}: ${message}`)),
  );
  spec.clusterIP = wanted;
}

function attempt<T>(allocate: () => T, refused: (message: string) => never): T {
  try {
    return allocate();
  } catch (error) {
    if (error instanceof AllocationError) return refused(error.message);
    throw error;
  }
}

function usesNodePorts(spec: Json): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer';
}

/** The same port over two protocols gets the same node port. */
function allocatePorts(service: Json, owned: ReadonlySet<number>, allocator: ServiceAllocator): void {
  const { spec } = service;
  const give = (): number =>
    attempt(
      () => allocator.nextPort(),
      (message) => {
        throw failure('InternalError', `Internal error occurred: failed to allocate a nodePort: ${message}`);
      },
    );
  if (usesNodePorts(spec)) {
    const byPort = new Map<number, number>();
    const taken = new Set(owned);
    (spec.ports ?? []).forEach((port: Json, index: number) => {
      if (!port.nodePort && spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false) return;
      if (!port.nodePort) port.nodePort = byPort.get(port.port) ?? requestedFor(port, spec.ports) ?? give();
      else if (!taken.has(port.nodePort)) {
        attempt(
          () => allocator.takePort(port.nodePort),
          (message) => refuse(service, invalid(`spec.ports[${index}].nodePort`, port.nodePort, message)),
        );
      }
      taken.add(port.nodePort);
      byPort.set(port.port, port.nodePort);
    });
  }
  if (spec.type !== 'LoadBalancer' || spec.externalTrafficPolicy !== 'Local') return;
  if (!spec.healthCheckNodePort) spec.healthCheckNodePort = give();
  else if (!owned.has(spec.healthCheckNodePort)) {
    attempt(
      () => allocator.takePort(spec.healthCheckNodePort),
      (message) => {
        const detail = `failed to allocate requested HealthCheck NodePort ${spec.healthCheckNodePort}: ${message}`;
        throw failure('InternalError', `Internal error occurred: ${detail}`);
      },
    );
  }
}

function requestedFor(port: Json, ports: Json[]): number | undefined {
  return ports.find((other) => other.port === port.port && other.nodePort)?.nodePort;
}

function portsOf(spec: Json): Set<number> {
  const ports = new Set<number>((spec.ports ?? []).map((port: Json) => port.nodePort).filter(Boolean));
  if (spec.healthCheckNodePort) ports.add(spec.healthCheckNodePort);
  return ports;
}

/** A client that knows only the singular or only the plural field means both. */
function normalizeAddresses(spec: Json, old: Json): void {
  if (old.clusterIPs && !spec.clusterIPs && old.clusterIP === spec.clusterIP) spec.clusterIPs = [...old.clusterIPs];
  if (old.clusterIP === spec.clusterIP || !semanticEqual(old.clusterIPs, spec.clusterIPs)) return;
  if (old.clusterIP && !spec.clusterIP) delete spec.clusterIPs;
  else spec.clusterIPs = [spec.clusterIP];
}

/** A client that does not know what was allocated must not lose it. */
function keepAllocated(spec: Json, old: Json): void {
  if (spec.type !== 'ExternalName' && old.type !== 'ExternalName') {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if (!spec.clusterIPs && old.clusterIPs) spec.clusterIPs = [...old.clusterIPs];
  }
  if (usesNodePorts(spec) && usesNodePorts(old)) {
    const given = new Set((spec.ports ?? []).map((port: Json) => port.nodePort));
    for (const port of spec.ports ?? []) {
      const before = old.ports?.find((candidate: Json) => (candidate.name ?? '') === (port.name ?? ''))?.nodePort;
      if (!port.nodePort && before && !given.has(before)) port.nodePort = before;
    }
  }
  if (needsHealthPort(spec) && needsHealthPort(old)) spec.healthCheckNodePort ??= old.healthCheckNodePort;
}

function needsHealthPort(spec: Json): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

function isExposed(spec: Json): boolean {
  return usesNodePorts(spec) || (spec.type === 'ClusterIP' && spec.externalIPs?.length > 0);
}

/** A changed type leaves fields behind that no longer mean anything; those the user did not touch go with it. */
function dropOutdated(service: Json, old: Json): void {
  const { spec } = service;
  const before = old.spec;
  const drop = (...fields: string[]): void => {
    for (const field of fields) if (semanticEqual(spec[field], before[field])) delete spec[field];
  };
  if (before.type !== 'ExternalName' && spec.type === 'ExternalName') {
    if (spec.clusterIP === before.clusterIP && semanticEqual(spec.clusterIPs, before.clusterIPs)) drop('clusterIP', 'clusterIPs');
    drop('ipFamilies', 'ipFamilyPolicy');
  }
  const oldPorts = portsOf(before);
  if (
    usesNodePorts(before) &&
    !usesNodePorts(spec) &&
    (spec.ports ?? []).every((port: Json) => !port.nodePort || oldPorts.has(port.nodePort))
  ) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (needsHealthPort(before) && !needsHealthPort(spec)) drop('healthCheckNodePort');
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') drop('allocateLoadBalancerNodePorts', 'loadBalancerClass');
  if (isExposed(before) && !isExposed(spec)) drop('externalTrafficPolicy');
  if (spec.type !== 'LoadBalancer' && service.status?.loadBalancer?.ingress) service.status = { ...service.status, loadBalancer: {} };
}
