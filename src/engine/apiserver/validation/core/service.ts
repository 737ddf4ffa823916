import { parseIp } from '../../../../kube/ip.ts';
import { isPortNumber } from '../../../../kube/ports.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkLegacyCidr,
  checkLegacyIp,
  checkOneOf,
  checkPortNumberOrName,
  checkQualifiedName,
} from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { checkLabels } from '../labels.ts';
import { path, type Path } from '../path.ts';
import { checkEndpointIp } from './endpoints.ts';
import { checkClusterIps, checkClusterIpsUpdate, isHeadless } from './service-ips.ts';

const SPEC = path('spec');
const PORTS = SPEC.child('ports');
const ANNOTATIONS = path('metadata', 'annotations');
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const POLICIES = ['Cluster', 'Local'];

export function validateService(out: Findings, service: KubeObject, old: KubeObject | undefined, subresource: string): void {
  const spec = service.spec ?? {};
  if (subresource === 'status') return checkLoadBalancer(out, service, old);
  if (old !== undefined) {
    checkClusterIpsUpdate(out, spec, old.spec ?? {});
    checkLoadBalancerClass(out, spec, old.spec ?? {});
    checkHealthCheckUpdate(out, spec, old.spec ?? {});
  }
  checkTopologyAnnotations(out, service.metadata.annotations ?? {});
  checkTypeFields(out, spec);
  checkPorts(out, spec);
  checkLabels(out, spec.selector, SPEC.child('selector'));
  checkSessionAffinity(out, spec);
  checkClusterIps(out, spec, old?.spec);
  checkExternalIps(out, spec.externalIPs ?? [], old?.spec?.externalIPs);
  checkOneOf(out, spec.type, TYPES, SPEC.child('type'));
  checkPortUniqueness(out, spec);
  checkSourceRanges(out, service, old);
  checkNodePortAllocation(out, spec);
  checkLoadBalancerClass(out, spec);
  checkTrafficPolicies(out, spec);
}

function checkTopologyAnnotations(out: Findings, annotations: Record<string, string>): void {
  const [mode, hints] = [annotations['service.kubernetes.io/topology-mode'], annotations['service.kubernetes.io/topology-aware-hints']];
  if (mode === undefined || hints === undefined || mode === hints) return;
  const detail = 'must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified';
  out.invalid(ANNOTATIONS.key('service.kubernetes.io/topology-mode'), mode, detail);
}

function checkTypeFields(out: Findings, spec: Json): void {
  const { type } = spec;
  if ((spec.ports ?? []).length === 0 && !isHeadless(spec) && type !== 'ExternalName') out.required(PORTS);
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    out.invalid(SPEC.child('clusterIPs').index(0), 'None', `may not be set to 'None' for ${type} services`);
  }
  if (type !== 'ExternalName') return;
  const detail = 'may not be set for ExternalName services';
  if ((spec.clusterIPs ?? []).length > 0) out.forbidden(SPEC.child('clusterIPs'), detail);
  if ((spec.ipFamilies ?? []).length > 0) out.forbidden(SPEC.child('ipFamilies'), detail);
  if (spec.ipFamilyPolicy !== undefined) out.forbidden(SPEC.child('ipFamilyPolicy'), detail);
  const name: string = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') out.required(SPEC.child('externalName'));
  else checkDnsSubdomain(out, name, SPEC.child('externalName'));
}

function checkPorts(out: Findings, spec: Json): void {
  const ports: Json[] = spec.ports ?? [];
  const names = new Set<string>();
  ports.forEach((port, i) => {
    const at = PORTS.index(i);
    const { name = '', protocol, appProtocol } = port;
    if (name === '') {
      if (ports.length > 1) out.required(at.child('name'));
    } else {
      checkDnsLabel(out, name, at.child('name'));
      if (names.has(name)) out.duplicate(at.child('name'), name);
      names.add(name);
    }
    out.invalidEach(at.child('port'), port.port ?? 0, isPortNumber(port.port ?? 0));
    checkOneOf(out, protocol, PROTOCOLS, at.child('protocol'));
    checkPortNumberOrName(out, port.targetPort, at.child('targetPort'));
    if (appProtocol !== undefined) checkQualifiedName(out, appProtocol, at.child('appProtocol'));
  });
}

const MAX_AFFINITY_SECONDS = 86_400;

function checkSessionAffinity(out: Findings, spec: Json): void {
  const { sessionAffinity, sessionAffinityConfig: config } = spec;
  const at = SPEC.child('sessionAffinityConfig');
  checkOneOf(out, sessionAffinity, ['ClientIP', 'None'], SPEC.child('sessionAffinity'));
  if (sessionAffinity === 'None' && config !== undefined) out.forbidden(at, 'must not be set when session affinity is None');
  if (sessionAffinity !== 'ClientIP') return;
  const detail = 'when session affinity type is ClientIP';
  if (config === undefined) return out.required(at, detail);
  if (config.clientIP === undefined) return out.required(at.child('clientIP'), detail);
  const seconds = config.clientIP.timeoutSeconds;
  const secondsAt = at.child('clientIP', 'timeoutSeconds');
  if (seconds === undefined) return out.required(secondsAt, detail);
  if (seconds <= 0 || seconds > MAX_AFFINITY_SECONDS) {
    out.invalid(secondsAt, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`);
  }
}

function checkExternalIps(out: Findings, ips: string[], known: string[] = []): void {
  ips.forEach((ip, i) => {
    const at = SPEC.child('externalIPs').index(i);
    if (checkLegacyIp(out, ip, at, known)) checkEndpointIp(out, ip, at);
  });
}

function checkPortUniqueness(out: Findings, spec: Json): void {
  const ports: Json[] = spec.ports ?? [];
  if (spec.type === 'ClusterIP') {
    ports.forEach((port, i) => {
      if (port.nodePort) out.forbidden(PORTS.index(i).child('nodePort'), "may not be used when `type` is 'ClusterIP'");
    });
  }
  const nodePorts = new Set<string>();
  ports.forEach(({ protocol, nodePort }, i) => {
    if (!nodePort) return;
    if (nodePorts.has(`${protocol}/${nodePort}`)) out.duplicate(PORTS.index(i).child('nodePort'), nodePort);
    nodePorts.add(`${protocol}/${nodePort}`);
  });
  const seen = new Set<string>();
  ports.forEach(({ protocol, port }, i) => {
    const key = `${protocol}/${port}`;
    if (seen.has(key)) out.duplicate(PORTS.index(i), internalForm('ServicePort', { protocol, port }));
    seen.add(key);
  });
}

const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';

function checkSourceRanges(out: Findings, service: KubeObject, old: KubeObject | undefined): void {
  const spec = service.spec ?? {};
  const ranges: string[] = spec.loadBalancerSourceRanges ?? [];
  const annotation = service.metadata.annotations?.[SOURCE_RANGES];
  const detail = "may only be used when `type` is 'LoadBalancer'";
  if (ranges.length > 0) {
    const at = SPEC.child('LoadBalancerSourceRanges');
    if (spec.type !== 'LoadBalancer') out.forbidden(at, detail);
    const known = (old?.spec?.loadBalancerSourceRanges ?? []).map((range: string) => range.trim());
    ranges.forEach((range, i) => checkLegacyCidr(out, range.trim(), at.index(i), known));
  } else if (annotation !== undefined) {
    const at = ANNOTATIONS.key(SOURCE_RANGES);
    if (spec.type !== 'LoadBalancer') out.forbidden(at, detail);
    if (old?.metadata.annotations?.[SOURCE_RANGES] === annotation || annotation.trim() === '') return;
    for (const range of annotation.trim().split(',')) checkLegacyCidr(out, range.trim(), at);
  }
}

function checkNodePortAllocation(out: Findings, spec: Json): void {
  const isLoadBalancer = spec.type === 'LoadBalancer';
  if (spec.allocateLoadBalancerNodePorts !== undefined) {
    if (!isLoadBalancer) out.forbidden(SPEC.child('allocateLoadBalancerNodePorts'), "may only be used when `type` is 'LoadBalancer'");
  } else if (isLoadBalancer) out.required(path('allocateLoadBalancerNodePorts'));
}

function checkLoadBalancerClass(out: Findings, spec: Json, old?: Json): void {
  const at = SPEC.child('loadBalancerClass');
  const name: string | undefined = spec.loadBalancerClass;
  if (old?.type === 'LoadBalancer' && spec.type === 'LoadBalancer' && old.loadBalancerClass !== name) {
    out.invalid(at, name, 'may not change once set');
  }
  if (name === undefined) return;
  if (spec.type === 'LoadBalancer') checkQualifiedName(out, name, at);
  else out.forbidden(at, "may only be used when `type` is 'LoadBalancer'");
}

function needsHealthCheck(spec: Json): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

function checkHealthCheckUpdate(out: Findings, spec: Json, old: Json): void {
  if (!needsHealthCheck(spec) || !needsHealthCheck(old)) return;
  if ((spec.healthCheckNodePort ?? 0) !== (old.healthCheckNodePort ?? 0)) {
    out.forbidden(SPEC.child('healthCheckNodePort'), 'field is immutable');
  }
}

function checkTrafficPolicies(out: Findings, spec: Json): void {
  const { type, externalTrafficPolicy: external, internalTrafficPolicy: internal, healthCheckNodePort = 0 } = spec;
  const isExternal = type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
  if (isExternal) checkOneOf(out, external, POLICIES, SPEC.child('externalTrafficPolicy'));
  else if (external) out.invalid(SPEC.child('externalTrafficPolicy'), external, 'may only be set for externally-accessible services');
  checkHealthCheckPort(out, healthCheckNodePort, needsHealthCheck(spec), SPEC.child('healthCheckNodePort'));
  if (internal === undefined) {
    if (type === 'NodePort' || type === 'LoadBalancer' || type === 'ClusterIP') out.required(SPEC.child('internalTrafficPolicy'));
  } else if (!POLICIES.includes(internal)) out.notSupported(SPEC.child('internalTrafficPolicy'), internal, POLICIES);
  const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
  if (spec.trafficDistribution !== undefined && !distributions.includes(spec.trafficDistribution)) {
    out.notSupported(SPEC.child('trafficDistribution'), spec.trafficDistribution, distributions);
  }
}

function checkHealthCheckPort(out: Findings, port: number, needed: boolean, at: Path): void {
  if (!needed) {
    if (port !== 0) out.invalid(at, port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  } else if (port === 0) out.required(at);
  else out.invalidEach(at, port, isPortNumber(port));
}

function checkLoadBalancer(out: Findings, service: KubeObject, old: KubeObject | undefined): void {
  const at = path('status', 'loadBalancer', 'ingress');
  const ingress: Json[] = service.status?.loadBalancer?.ingress ?? [];
  if (service.spec?.type !== 'LoadBalancer') {
    if (ingress.length > 0) out.forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  const known = (old?.status?.loadBalancer?.ingress ?? []).map((i: Json) => i.ip ?? '').filter((ip: string) => ip !== '');
  ingress.forEach(({ ip = '', ipMode, hostname = '' }, i) => {
    const itemAt = at.index(i);
    if (ip !== '') checkLegacyIp(out, ip, itemAt.child('ip'), known);
    if (ipMode === undefined) {
      if (ip !== '') out.required(itemAt.child('ipMode'), 'must be specified when `ip` is set');
    } else if (ip === '') out.forbidden(itemAt.child('ipMode'), 'may not be specified when `ip` is not set');
    else if (ipMode !== 'VIP' && ipMode !== 'Proxy') out.notSupported(itemAt.child('ipMode'), ipMode, ['Proxy', 'VIP']);
    if (hostname === '') return;
    checkDnsSubdomain(out, hostname, itemAt.child('hostname'));
    if (parseIp(hostname) !== undefined) out.invalid(itemAt.child('hostname'), hostname, 'must be a DNS name, not an IP address');
  });
}
