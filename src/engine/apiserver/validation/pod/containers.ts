import { isPortName, isPortNumber } from '../../../../kube/ports.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel, checkOneOf } from '../formats.ts';
import type { Path } from '../path.ts';
import { checkEnv, checkEnvFrom } from './env.ts';
import { checkVolumeDevices, checkVolumeMounts } from './mounts.ts';
import type { PodOptions } from './options.ts';
import { checkLifecycle, checkProbes } from './probes.ts';
import { checkResourceRequirements } from './resources.ts';
import { checkContainerRestartPolicy, checkResizePolicy, checkRulesWithoutPolicy } from './restart-policy.ts';
import { checkSecurityContext } from './security-context.ts';

/** What containers need to know of their Pod. */
export interface PodFacts {
  spec: Json;
  volumes: Map<string, Json>;
  claimNames: Set<string>;
  hostUsers: boolean;
  options: PodOptions;
}

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

export function checkPullPolicy(out: Findings, policy: string | undefined, at: Path): void {
  if (policy === undefined || !PULL_POLICIES.includes(policy)) checkOneOf(out, policy, PULL_POLICIES, at);
}

function checkPorts(out: Findings, ports: Json[], at: Path): void {
  const names = new Set<string>();
  for (let i = 0; i < ports.length; i++) {
    const { name, containerPort = 0, hostPort = 0, protocol } = ports[i];
    const itemAt = at.index(i);
    if (name) {
      const messages = isPortName(name);
      if (messages.length > 0) out.invalidEach(itemAt.child('name'), name, messages);
      else if (names.has(name)) out.duplicate(itemAt.child('name'), name);
      else names.add(name);
    }
    if (containerPort === 0) out.required(itemAt.child('containerPort'));
    else out.invalidEach(itemAt.child('containerPort'), containerPort, isPortNumber(containerPort));
    if (hostPort !== 0) out.invalidEach(itemAt.child('hostPort'), hostPort, isPortNumber(hostPort));
    if (!PROTOCOLS.includes(protocol)) checkOneOf(out, protocol, PROTOCOLS, itemAt.child('protocol'));
  }
}

function checkHostPortConflicts(out: Findings, containers: Json[], at: Path): void {
  const taken = new Set<string>();
  for (let i = 0; i < containers.length; i++) {
    const ports: Json[] = containers[i].ports ?? [];
    for (let j = 0; j < ports.length; j++) {
      const { hostPort = 0, protocol = '', hostIP = '' } = ports[j];
      if (hostPort === 0) continue;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(key)) out.duplicate(at.index(i).child('ports').index(j).child('hostPort'), key);
      else taken.add(key);
    }
  }
}

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];

/** What holds for containers of all three lists. */
function checkContainer(out: Findings, container: Json, facts: PodFacts, at: Path): void {
  const { name, image, terminationMessagePolicy, resources } = container;
  if (!name) out.required(at.child('name'));
  else checkDnsLabel(out, name, at.child('name'));
  if (!image) out.required(at.child('image'));
  if (!MESSAGE_POLICIES.includes(terminationMessagePolicy)) {
    checkOneOf(out, terminationMessagePolicy, MESSAGE_POLICIES, at.child('terminationMessagePolicy'));
  }
  if (container.ports !== undefined) checkPorts(out, container.ports, at.child('ports'));
  if (container.env !== undefined) checkEnv(out, container.env, at.child('env'));
  if (container.envFrom !== undefined) checkEnvFrom(out, container.envFrom, at.child('envFrom'));
  checkVolumeMounts(out, container, facts.volumes, at.child('volumeMounts'));
  checkVolumeDevices(out, container, facts.volumes, at.child('volumeDevices'));
  checkPullPolicy(out, container.imagePullPolicy, at.child('imagePullPolicy'));
  if (resources !== undefined) {
    const { allowIndivisibleHugePages } = facts.options;
    checkResourceRequirements(out, resources, at.child('resources'), { allowIndivisibleHugePages, claimNames: facts.claimNames });
  }
  checkResizePolicy(out, container.resizePolicy ?? [], facts.spec.restartPolicy, at.child('resizePolicy'));
  checkSecurityContext(out, container.securityContext, at.child('securityContext'), facts.hostUsers);
}

export function checkContainers(out: Findings, facts: PodFacts, at: Path): void {
  const containers: Json[] = facts.spec.containers ?? [];
  if (containers.length === 0) return out.required(at);
  const { os, terminationGracePeriodSeconds: gracePeriod } = facts.spec;
  const names = new Set<string>();
  for (let i = 0; i < containers.length; i++) {
    const container = containers[i];
    const itemAt = at.index(i);
    checkContainer(out, container, facts, itemAt);
    if (names.has(container.name ?? '')) out.duplicate(itemAt.child('name'), container.name ?? '');
    names.add(container.name ?? '');
    checkLifecycle(out, container.lifecycle, gracePeriod, os, itemAt.child('lifecycle'));
    checkProbes(out, container, gracePeriod, itemAt);
    checkContainerRestartPolicy(out, container, facts.options, itemAt);
  }
  checkHostPortConflicts(out, containers, at);
}

export function isSidecar(container: Json): boolean {
  return container.restartPolicy === 'Always';
}

export function checkInitContainers(out: Findings, facts: PodFacts, at: Path): void {
  const containers: Json[] = facts.spec.initContainers ?? [];
  if (containers.length === 0) return;
  const names = new Set<string>((facts.spec.containers ?? []).map((c: Json) => c.name ?? ''));
  for (let i = 0; i < containers.length; i++) {
    const container = containers[i];
    const itemAt = at.index(i);
    checkContainer(out, container, facts, itemAt);
    checkInitRestartPolicy(out, container, facts.options, itemAt);
    if (names.has(container.name ?? '')) out.duplicate(itemAt.child('name'), container.name ?? '');
    else if (container.name) names.add(container.name);
    checkHostPortConflicts(out, [container], at);
    checkInitHandlers(out, container, facts.spec, itemAt);
  }
}

function checkInitRestartPolicy(out: Findings, container: Json, options: PodOptions, at: Path): void {
  if (container.restartPolicy === undefined) return checkRulesWithoutPolicy(out, container, at);
  if (!isSidecar(container) || options.allowRestartAllContainers) return checkContainerRestartPolicy(out, container, options, at);
  if ((container.restartPolicyRules ?? []).length > 0) {
    const detail = 'restartPolicyRules are not allowed for init containers with restart policy Always';
    out.forbidden(at.child('restartPolicyRules'), detail);
  }
}

function checkInitHandlers(out: Findings, container: Json, spec: Json, at: Path): void {
  if (isSidecar(container)) {
    checkLifecycle(out, container.lifecycle, spec.terminationGracePeriodSeconds, spec.os, at.child('lifecycle'));
    return checkProbes(out, container, spec.terminationGracePeriodSeconds, at);
  }
  for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (container[field] !== undefined) {
      out.forbidden(at.child(field), 'may not be set for init containers without restartPolicy=Always');
    }
  }
}

/** What makes no sense for a container that is never restarted and has no resources of its own. */
const EPHEMERAL_FORBIDDEN = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
];
const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container';

export function checkEphemeralContainers(out: Findings, facts: PodFacts, at: Path): void {
  const containers: Json[] = facts.spec.ephemeralContainers ?? [];
  if (containers.length === 0) return;
  const others = new Set<string>([...(facts.spec.containers ?? []), ...(facts.spec.initContainers ?? [])].map((c: Json) => c.name ?? ''));
  const names = new Set(others);
  containers.forEach((container, i) => {
    const itemAt = at.index(i);
    checkContainer(out, container, facts, itemAt);
    checkImageSpaces(out, container, itemAt);
    if (names.has(container.name ?? '')) out.duplicate(itemAt.child('name'), container.name ?? '');
    names.add(container.name ?? '');
    const target = container.targetContainerName;
    if (target && !others.has(target)) out.notFound(itemAt.child('targetContainerName'), target);
    for (const field of EPHEMERAL_FORBIDDEN) {
      const isZero = container[field] === undefined || (field === 'resources' && Object.keys(container[field]).length === 0);
      if (!isZero) out.forbidden(itemAt.child(field), NOT_EPHEMERAL);
    }
    (container.volumeMounts ?? []).forEach((mount: Json, j: number) => {
      const mountAt = itemAt.child('volumeMounts').index(j);
      if (mount.subPath) out.forbidden(mountAt.child('subPath'), NOT_EPHEMERAL);
      if (mount.subPathExpr) out.forbidden(mountAt.child('subPathExpr'), NOT_EPHEMERAL);
    });
  });
}

/** Old templates may have them; a Pod may not. */
export function checkImageSpaces(out: Findings, container: Json, at: Path): void {
  const image: string = container.image ?? '';
  if (image !== image.trim()) out.invalid(at.child('image'), image, 'must not have leading or trailing whitespace');
}
