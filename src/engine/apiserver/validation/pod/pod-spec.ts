import { isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel, checkDnsSubdomain, checkLegacyIp, checkOneOf, checkQualifiedName, checkSearchDomain } from '../formats.ts';
import { checkLabels } from '../labels.ts';
import type { Path } from '../path.ts';
import { checkAffinity } from './affinity.ts';
import { checkContainers, checkEphemeralContainers, checkInitContainers, type PodFacts } from './containers.ts';
import { checkFileKeyVolumes } from './env.ts';
import type { PodOptions } from './options.ts';
import { checkPodResources } from './pod-resources.ts';
import { checkPodClaims } from './resource-claims.ts';
import { checkResourceRequirements } from './resources.ts';
import { checkPodSecurityContext } from './security-context.ts';
import { checkTolerations } from './tolerations.ts';
import { checkTopologySpread } from './topology-spread.ts';
import { visitContainers } from './visit.ts';
import { checkVolumes } from './volumes.ts';
import { checkHostProcess, checkOs } from './windows.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];

/** `metadata` is that of a Pod; templates have none to speak of. */
export function checkPodSpec(out: Findings, spec: Json, metadata: Json, at: Path, options: PodOptions): void {
  if (spec.terminationGracePeriodSeconds === undefined) out.required(at.child('terminationGracePeriodSeconds'));
  const volumes = checkVolumes(out, spec.volumes ?? [], metadata?.name, at.child('volumes'), options);
  const claimNames = checkPodClaims(out, spec.resourceClaims ?? [], metadata, at.child('resourceClaims'));
  const facts: PodFacts = { spec, volumes, claimNames, hostUsers: spec.hostUsers !== false, options };
  checkContainers(out, facts, at.child('containers'));
  checkInitContainers(out, facts, at.child('initContainers'));
  checkEphemeralContainers(out, facts, at.child('ephemeralContainers'));
  if (spec.resources !== undefined) checkPodResources(out, spec, claimNames, at, options);
  if (spec.hostNetwork) checkHostNetworkPorts(out, spec, at.child('containers'), options);
  checkOneOf(out, spec.restartPolicy, RESTART_POLICIES, at.child('restartPolicy'));
  checkOneOf(out, spec.dnsPolicy, DNS_POLICIES, at.child('dnsPolicy'));
  checkLabels(out, spec.nodeSelector, at.child('nodeSelector'));
  checkPodSecurityContext(out, spec, at.child('securityContext'), options);
  checkAffinity(out, spec.affinity, at.child('affinity'), options);
  checkDnsConfig(out, spec, at.child('dnsConfig'));
  (spec.readinessGates ?? []).forEach((gate: Json, i: number) =>
    checkQualifiedName(out, gate.conditionType ?? '', at.child('readinessGates').index(i).child('conditionType')),
  );
  checkSchedulingGates(out, spec.schedulingGates ?? [], at.child('schedulingGates'));
  checkTopologySpread(out, spec.topologySpreadConstraints ?? [], at.child('topologySpreadConstraints'), options);
  checkHostProcess(out, spec, at);
  if (spec.hostUsers === false) checkUserNamespace(out, spec, at, options);
  checkHostnameOverride(out, spec, at.child('hostnameOverride'));
  checkNames(out, spec, at);
  checkScalars(out, spec, at, options);
  if (spec.os !== undefined) checkOs(out, spec, at);
  if (spec.workloadRef !== undefined) checkWorkloadRef(out, spec.workloadRef, at.child('workloadRef'));
  checkFileKeyVolumes(out, spec, at);
}

function checkHostNetworkPorts(out: Findings, spec: Json, at: Path, options: PodOptions): void {
  (spec.containers ?? []).forEach((container: Json, i: number) => {
    (container.ports ?? []).forEach(({ hostPort = 0, containerPort = 0 }: Json, j: number) => {
      if ((!options.isPod && hostPort === 0) || hostPort === containerPort) return;
      const portAt = at.index(i).child('ports').index(j).child('hostPort');
      out.invalid(portAt, hostPort, 'must match `containerPort` when `hostNetwork` is true');
    });
  });
}

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;

function checkDnsConfig(out: Findings, spec: Json, at: Path): void {
  const config = spec.dnsConfig;
  const nameservers: string[] = config?.nameservers ?? [];
  const searches: string[] = config?.searches ?? [];
  if (spec.dnsPolicy === 'None') {
    if (config === undefined) return out.required(at, 'must provide `dnsConfig` when `dnsPolicy` is None');
    if (nameservers.length === 0) {
      return out.required(at.child('nameservers'), 'must provide at least one DNS nameserver when `dnsPolicy` is None');
    }
  }
  if (config === undefined) return;
  if (nameservers.length > MAX_NAMESERVERS) {
    out.invalid(at.child('nameservers'), nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`);
  }
  nameservers.forEach((ip, i) => checkLegacyIp(out, ip, at.child('nameservers').index(i)));
  if (searches.length > MAX_SEARCHES) {
    out.invalid(at.child('searches'), searches, `must not have more than ${MAX_SEARCHES} search paths`);
  }
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    out.invalid(at.child('searches'), searches, detail);
  }
  searches.forEach((search, i) => {
    if (search !== '.') checkSearchDomain(out, search.endsWith('.') ? search.slice(0, -1) : search, at.child('searches').index(i));
  });
  (config.options ?? []).forEach((option: Json, i: number) => {
    if (!option.name) out.required(at.child('options').index(i), 'must not be empty');
  });
}

function checkSchedulingGates(out: Findings, gates: Json[], at: Path): void {
  const seen = new Set<string>();
  gates.forEach(({ name = '' }, i) => {
    checkQualifiedName(out, name, at.index(i));
    if (seen.has(name)) out.duplicate(at.index(i), name);
    seen.add(name);
  });
}

function checkUserNamespace(out: Findings, spec: Json, at: Path, options: PodOptions): void {
  const detail = 'when `hostUsers` is false';
  if (!options.allowHostNetworkInUserNamespace && spec.hostNetwork) out.forbidden(at.child('hostNetwork'), detail);
  if (spec.hostPID) out.forbidden(at.child('HostPID'), detail);
  if (spec.hostIPC) out.forbidden(at.child('HostIPC'), detail);
  if (options.allowVolumeDevicesInUserNamespace) return;
  visitContainers(spec, at, (container, containerAt) => {
    if ((container.volumeDevices ?? []).length > 0) out.forbidden(containerAt().child('volumeDevices'), detail);
  });
}

function checkHostnameOverride(out: Findings, spec: Json, at: Path): void {
  if (spec.hostnameOverride === undefined) return;
  if (spec.setHostnameAsFQDN === true) out.forbidden(at, 'may not be specified when setHostnameAsFQDN is true');
  if (spec.hostNetwork) out.forbidden(at, 'may not be specified when hostNetwork is true');
  if (spec.hostnameOverride.length > 64) out.tooLong(at, 64);
  checkDnsSubdomain(out, spec.hostnameOverride, at);
}

function checkNames(out: Findings, spec: Json, at: Path): void {
  for (const field of ['serviceAccountName', 'nodeName']) {
    if (spec[field]) out.invalidEach(at.child(field), spec[field], isDns1123Subdomain(spec[field]));
  }
}

function checkScalars(out: Findings, spec: Json, at: Path, options: PodOptions): void {
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > 2147483647)) {
    out.invalid(at.child('activeDeadlineSeconds'), deadline, 'must be between 1 and 2147483647, inclusive');
  }
  if (spec.hostname) checkDnsLabel(out, spec.hostname, at.child('hostname'));
  if (spec.subdomain) checkDnsLabel(out, spec.subdomain, at.child('subdomain'));
  if (spec.tolerations !== undefined) checkTolerations(out, spec.tolerations, at.child('tolerations'), options);
  (spec.hostAliases ?? []).forEach((alias: Json, i: number) => checkHostAlias(out, alias, at.child('hostAliases').index(i)));
  if (spec.priorityClassName) checkDnsSubdomain(out, spec.priorityClassName, at.child('priorityClassName'));
  if (spec.runtimeClassName !== undefined) checkDnsSubdomain(out, spec.runtimeClassName, at.child('runtimeClassName'));
  if (spec.preemptionPolicy !== undefined) {
    checkOneOf(out, spec.preemptionPolicy, PREEMPTION_POLICIES, at.child('preemptionPolicy'));
  }
  if (spec.overhead !== undefined) {
    const { allowIndivisibleHugePages } = options;
    checkResourceRequirements(out, { limits: spec.overhead }, at.child('overhead'), { allowIndivisibleHugePages });
  }
}

function checkHostAlias(out: Findings, alias: Json, at: Path): void {
  checkLegacyIp(out, alias.ip ?? '', at.child('ip'));
  (alias.hostnames ?? []).forEach((name: string, i: number) => checkDnsSubdomain(out, name, at.child('hostnames').index(i)));
}

function checkWorkloadRef(out: Findings, ref: Json, at: Path): void {
  checkDnsSubdomain(out, ref.name ?? '', at.child('name'));
  checkDnsLabel(out, ref.podGroup ?? '', at.child('podGroup'));
  if (ref.podGroupReplicaKey) checkDnsLabel(out, ref.podGroupReplicaKey, at.child('podGroupReplicaKey'));
}
