import { isDns1123Subdomain } from '../../../../kube/names.ts';
import { isUserOrGroupId } from '../../../../kube/ports.ts';
import { parseIp } from '../../../../kube/ip.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel, checkImmutable, checkLegacyIp, checkQualifiedName } from '../formats.ts';
import { internalForms } from '../internal-form.ts';
import { path, type Path } from '../path.ts';
import { checkPodAnnotations, checkPodAnnotationUpdates } from './annotations.ts';
import type { PodOptions } from './options.ts';

const STATUS = path('status');
const ANNOTATIONS = path('metadata', 'annotations');

export function checkPodStatusUpdate(out: Findings, pod: KubeObject, old: KubeObject, options: PodOptions): void {
  const [spec, oldSpec, status, oldStatus] = [pod.spec ?? {}, old.spec ?? {}, pod.status ?? {}, old.status ?? {}];
  checkPodAnnotationUpdates(out, pod.metadata.annotations, old.metadata.annotations, ANNOTATIONS);
  checkPodAnnotations(out, pod.metadata.annotations, spec, ANNOTATIONS, options);
  checkConditions(out, status.conditions ?? [], STATUS.child('conditions'));
  if ((spec.nodeName ?? '') !== (oldSpec.nodeName ?? '')) out.forbidden(STATUS.child('nodeName'), 'may not be changed directly');
  checkNominatedNode(out, status.nominatedNodeName ?? '', oldStatus.nominatedNodeName ?? '', oldSpec);
  if (status.observedGeneration < 0) {
    out.invalid(STATUS.child('observedGeneration'), status.observedGeneration, 'must be a non-negative integer');
  }
  checkImmutable(out, status.qosClass ?? '', oldStatus.qosClass ?? '', STATUS.child('qosClass'));
  for (const [field, list] of [
    ['containerStatuses', 'containers'],
    ['initContainerStatuses', 'initContainers'],
    ['ephemeralContainerStatuses', ''],
  ]) {
    checkTransitions(out, status[field] ?? [], oldStatus[field] ?? [], oldSpec, list, STATUS.child(field));
  }
  checkClaimStatuses(out, status.resourceClaimStatuses ?? [], spec, STATUS.child('resourceClaimStatuses'));
  checkExtendedClaim(out, status.extendedResourceClaimStatus, spec, STATUS.child('extendedResourceClaimStatus'));
  checkIps(out, status.podIPs ?? [], oldStatus.podIPs ?? [], 'PodIP', STATUS.child('podIPs'));
  checkHostIps(out, status, oldStatus, STATUS.child('hostIPs'));
  for (const field of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']) {
    checkUsers(out, status[field] ?? [], spec.os?.name ?? 'linux', STATUS.child(field));
  }
  checkAllocated(out, status.containerStatuses ?? [], spec.containers ?? [], STATUS.child('containerStatuses'));
  checkAllocated(out, status.initContainerStatuses ?? [], spec.initContainers ?? [], STATUS.child('initContainerStatuses'));
  (status.ephemeralContainerStatuses ?? []).forEach((container: Json, i: number) => {
    if ((container.allocatedResourcesStatus ?? []).length === 0) return;
    const at = STATUS.child('ephemeralContainerStatuses').index(i).child('allocatedResourcesStatus');
    out.forbidden(at, 'must not be specified in container status');
  });
}

function checkNominatedNode(out: Findings, name: string, old: string, oldSpec: Json): void {
  if (name === old || name === '') return;
  const at = STATUS.child('nominatedNodeName');
  out.invalidEach(at, name, isDns1123Subdomain(name));
  if (oldSpec.nodeName) out.forbidden(at, 'may not be set on pods that are already bound to a node');
}

const SYSTEM_CONDITIONS = new Set(['PodScheduled', 'Ready', 'Initialized']);

function checkConditions(out: Findings, conditions: Json[], at: Path): void {
  conditions.forEach((condition, i) => {
    const generation = condition.observedGeneration ?? 0;
    if (generation < 0) out.invalid(at.index(i).child('observedGeneration'), generation, 'must be a non-negative integer');
    if (!SYSTEM_CONDITIONS.has(condition.type)) checkQualifiedName(out, condition.type ?? '', at.index(i).child('Type'));
  });
}

/** A terminated container comes back only if its restart policy says so. `list` is where it stands in the spec, if it can restart at all. */
function checkTransitions(out: Findings, statuses: Json[], old: Json[], oldSpec: Json, list: string, at: Path): void {
  const byName = new Map(statuses.map((status) => [status.name, status]));
  const containers = new Map<string, Json>((list === '' ? [] : (oldSpec[list] ?? [])).map((c: Json) => [c.name, c]));
  old.forEach((oldStatus, i) => {
    const terminated = oldStatus.state?.terminated;
    if (terminated === undefined) return;
    const next = byName.get(oldStatus.name);
    if (next === undefined || next.state?.terminated !== undefined) return;
    const container = containers.get(oldStatus.name);
    if (container !== undefined && shouldRestart(container, oldSpec.restartPolicy, terminated.exitCode ?? 0)) return;
    out.forbidden(at.index(i).child('state'), 'may not be transitioned to non-terminated state');
  });
}

function shouldRestart(container: Json, podPolicy: string | undefined, exitCode: number): boolean {
  let policy = podPolicy;
  if (container.restartPolicy !== undefined) {
    const rule = (container.restartPolicyRules ?? []).find((r: Json) => {
      const listed = (r.exitCodes?.values ?? []).includes(exitCode);
      return r.exitCodes !== undefined && (r.exitCodes.operator === 'In' ? listed : !listed);
    });
    if (rule?.action === 'Restart') return true;
    policy = container.restartPolicy;
  }
  if (policy === 'Never') return false;
  return policy === 'OnFailure' ? exitCode !== 0 : true;
}

function checkClaimStatuses(out: Findings, statuses: Json[], spec: Json, at: Path): void {
  const seen = new Set<string>();
  statuses.forEach(({ name = '', resourceClaimName }, i) => {
    const nameAt = at.index(i).child('name');
    const known = (spec.resourceClaims ?? []).some((claim: Json) => claim.name === name);
    if (!known) out.invalid(nameAt, name, 'must match the name of an entry in `spec.resourceClaims`');
    if (seen.has(name)) out.duplicate(nameAt, name);
    seen.add(name);
    if (resourceClaimName !== undefined) out.invalidEach(nameAt, resourceClaimName, isDns1123Subdomain(resourceClaimName));
  });
}

function checkExtendedClaim(out: Findings, status: Json, spec: Json, at: Path): void {
  if (status === undefined) return;
  const mappings: Json[] = status.requestMappings ?? [];
  const mappingsAt = at.child('requestMappings');
  if (mappings.length === 0) out.required(mappingsAt, 'at least one request mapping is required');
  const containers = new Map<string, Json>([...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((c: Json) => [c.name, c]));
  const seen = new Set<string>();
  mappings.forEach(({ containerName = '', resourceName = '', requestName = '' }, i) => {
    const container = containers.get(containerName);
    const itemAt = mappingsAt.index(i);
    if (container === undefined) {
      const detail = 'must match the name of an entry in spec.initContainers.name or spec.containers.name';
      out.invalid(itemAt.child('containerName'), containerName, detail);
    } else if (!Object.hasOwn(container.resources?.requests ?? {}, resourceName)) {
      const detail =
        'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';
      out.invalid(itemAt.child('resourceName'), resourceName, detail);
    }
    checkDnsLabel(out, requestName, at.child('requestName'));
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) {
      out.duplicate(itemAt.child('containerName'), containerName);
      out.duplicate(itemAt.child('resourceName'), resourceName);
      out.duplicate(itemAt.child('requestName'), requestName);
    }
    seen.add(key);
  });
  if (!status.resourceClaimName) out.required(at.child('resourceClaimName'));
  else out.invalidEach(at.child('resourceClaimName'), status.resourceClaimName, isDns1123Subdomain(status.resourceClaimName));
}

function checkIps(out: Findings, ips: Json[], old: Json[], type: string, at: Path): void {
  const known = old.map((ip) => ip.ip ?? '');
  let allRight = true;
  ips.forEach((ip, i) => {
    allRight = checkLegacyIp(out, ip.ip ?? '', at.index(i), known) && allRight;
  });
  if (ips.length <= 1 || !allRight) return;
  const versions = new Set(ips.map((ip) => parseIp(ip.ip ?? '')?.version));
  if (versions.size < 2 || ips.length > 2) {
    out.invalid(at, internalForms(type, ips), 'may specify no more than one IP for each IP family');
  }
}

function checkHostIps(out: Findings, status: Json, oldStatus: Json, at: Path): void {
  const ips: Json[] = status.hostIPs ?? [];
  if (ips.length === 0) return;
  if ((status.hostIP ?? '') !== (ips[0].ip ?? '')) out.invalid(at.index(0).child('ip'), ips[0].ip ?? '', 'must be equal to `hostIP`');
  checkIps(out, ips, oldStatus.hostIPs ?? [], 'HostIP', at);
}

function checkUsers(out: Findings, statuses: Json[], os: string, at: Path): void {
  statuses.forEach((status, i) => {
    const linux = status.user?.linux;
    if (linux === undefined) return;
    const userAt = at.index(i).child('user', 'linux');
    if (os === 'windows') return out.forbidden(userAt, 'cannot be set for a windows pod');
    out.invalidEach(userAt.child('uid'), linux.uid ?? 0, isUserOrGroupId(linux.uid ?? 0));
    out.invalidEach(userAt.child('gid'), linux.gid ?? 0, isUserOrGroupId(linux.gid ?? 0));
    (linux.supplementalGroups ?? []).forEach((id: number, j: number) =>
      out.invalidEach(userAt.child('supplementalGroups').index(j), id, isUserOrGroupId(id)),
    );
  });
}

const HEALTH = ['Healthy', 'Unhealthy', 'Unknown'];

function checkAllocated(out: Findings, statuses: Json[], containers: Json[], at: Path): void {
  const byName = new Map(containers.map((c) => [c.name, c]));
  statuses.forEach((status, i) => {
    const container = byName.get(status.name);
    (status.allocatedResourcesStatus ?? []).forEach((allocated: Json, j: number) => {
      const itemAt = at.index(i).child('allocatedResourcesStatus').index(j);
      if (container !== undefined) checkAllocatedName(out, allocated.name ?? '', container, itemAt.child('name'));
      const ids = new Set<string>();
      (allocated.resources ?? []).forEach(({ health = '', resourceID = '' }: Json, k: number) => {
        const resourceAt = itemAt.child('resources').index(k);
        if (!HEALTH.includes(health)) out.notSupported(resourceAt.child('health'), health, HEALTH);
        if (ids.has(resourceID)) out.duplicate(resourceAt.child('resourceID'), resourceID);
        ids.add(resourceID);
      });
    });
  });
}

function checkAllocatedName(out: Findings, name: string, container: Json, at: Path): void {
  if (!name.startsWith('claim:')) {
    if (!Object.hasOwn(container.resources?.requests ?? {}, name))
      out.invalid(at, name, "must match one of the container's resource requests");
    return;
  }
  const names = (container.resources?.claims ?? []).map((c: Json) => `claim:${c.name}${c.request ? `/${c.request}` : ''}`);
  if (names.includes(name)) return;
  const form = "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  out.invalid(at, name, `must match one of the container's resource claims in a format ${form}`);
}
