import type { Json } from '../../../../kube/object.ts';
import {
  allContainers,
  containersText,
  exceptInUserNamespace,
  joinQuoted,
  plural,
  settersText,
  sorted,
  type Check,
  type CheckPod,
} from './check.ts';

/** The baseline checks on the privileges and kernel confinement of containers. */

const APPARMOR_ANNOTATION_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const CONFINING_PROFILES = ['RuntimeDefault', 'Localhost'];

const appArmorProfile: CheckPod = (spec, metadata) => {
  const badType = (context: Json) => context?.appArmorProfile !== undefined && !CONFINING_PROFILES.includes(context.appArmorProfile.type);
  const pod = badType(spec.securityContext);
  const bad = allContainers(spec).filter((container) => badType(container.securityContext));
  const types = bad.map((container): string => container.securityContext.appArmorProfile.type);
  if (pod) types.push(spec.securityContext.appArmorProfile.type);
  const annotations = Object.entries(metadata.annotations ?? {})
    .filter(([key, value]) => key.startsWith(APPARMOR_ANNOTATION_PREFIX) && !/^(|runtime\/default|localhost\/.*)$/s.test(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const setters = [settersText(pod, names(bad)), annotations.length > 0 ? plural(annotations.length, 'annotation') : ''].filter(Boolean);
  if (setters.length === 0) return undefined;
  const values = [...sorted(types), ...sorted(annotations)];
  return {
    reason: plural(values.length, 'forbidden AppArmor profile'),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${joinQuoted(values)}`,
  };
};

const DEFAULT_CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

const capabilities: CheckPod = (spec) => {
  const added = (container: Json): string[] =>
    (container.securityContext?.capabilities?.add ?? []).filter((name: string) => !DEFAULT_CAPABILITIES.has(name));
  const bad = allContainers(spec).filter((container) => added(container).length > 0);
  if (bad.length === 0) return undefined;
  const list = joinQuoted(sorted(bad.flatMap(added)));
  return {
    reason: 'non-default capabilities',
    detail: `${containersText(names(bad))} must not include ${list} in securityContext.capabilities.add`,
  };
};

const privileged: CheckPod = (spec) => {
  const bad = allContainers(spec).filter((container) => container.securityContext?.privileged);
  if (bad.length === 0) return undefined;
  return { reason: 'privileged', detail: `${containersText(names(bad))} must not set securityContext.privileged=true` };
};

export const procMount: CheckPod = (spec) => {
  const bad = allContainers(spec).filter((container) => (container.securityContext?.procMount ?? 'Default') !== 'Default');
  if (bad.length === 0) return undefined;
  const types = joinQuoted(sorted(bad.map((container) => container.securityContext.procMount)));
  return { reason: 'procMount', detail: `${containersText(names(bad))} must not set securityContext.procMount to ${types}` };
};

const SELINUX_TYPES_1_0 = ['', 'container_t', 'container_init_t', 'container_kvm_t'];
const SELINUX_TYPES_1_31 = [...SELINUX_TYPES_1_0, 'container_engine_t'];

function seLinuxOptions(allowedTypes: string[]): CheckPod {
  const isBad = (options: Json) => options && (!allowedTypes.includes(options.type ?? '') || options.user || options.role);
  return (spec) => {
    const pod = Boolean(isBad(spec.securityContext?.seLinuxOptions));
    const bad = allContainers(spec).filter((container) => isBad(container.securityContext?.seLinuxOptions));
    if (!pod && bad.length === 0) return undefined;
    const options = bad.map((container) => container.securityContext.seLinuxOptions);
    if (pod) options.push(spec.securityContext.seLinuxOptions);
    const types = sorted(options.map((option): string => option.type ?? '').filter((type) => !allowedTypes.includes(type)));
    const data: string[] = [];
    if (types.length > 0) data.push(`${plural(types.length, 'type')} ${joinQuoted(types)}`);
    if (options.some((option) => option.user)) data.push('user may not be set');
    if (options.some((option) => option.role)) data.push('role may not be set');
    const detail = `${settersText(pod, names(bad))} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`;
    return { reason: 'seLinuxOptions', detail };
  };
}

const SECCOMP_POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';

/** Before 1.19 seccomp profiles were annotations. */
const seccompAnnotations: CheckPod = (spec, metadata) => {
  const keys = [SECCOMP_POD_ANNOTATION, ...allContainers(spec).map((container) => SECCOMP_CONTAINER_PREFIX + container.name)];
  const bad: string[] = [];
  for (const key of keys) {
    const value = metadata.annotations?.[key];
    if (value !== undefined && !/^(runtime\/default|docker\/default|localhost\/.*)$/s.test(value)) {
      bad.push(`${key}=${JSON.stringify(value)}`);
    }
  }
  if (bad.length === 0) return undefined;
  const distinct = sorted(bad);
  return { reason: 'seccompProfile', detail: `forbidden ${plural(distinct.length, 'annotation')} ${distinct.join(', ')}` };
};

export const seccompProfile: CheckPod = (spec) => {
  const badType = (context: Json) => context?.seccompProfile !== undefined && !CONFINING_PROFILES.includes(context.seccompProfile.type);
  const pod = badType(spec.securityContext);
  const bad = allContainers(spec).filter((container) => badType(container.securityContext));
  if (!pod && bad.length === 0) return undefined;
  const types = bad.map((container): string => container.securityContext.seccompProfile.type);
  if (pod) types.push(spec.securityContext.seccompProfile.type);
  const detail = `${settersText(pod, names(bad))} must not set securityContext.seccompProfile.type to ${joinQuoted(sorted(types))}`;
  return { reason: 'seccompProfile', detail };
};

function names(containers: Json[]): string[] {
  return containers.map((container) => container.name);
}

export const BASELINE_PRIVILEGE_CHECKS: Check[] = [
  { id: 'appArmorProfile', level: 'baseline', versions: [{ since: 0, check: appArmorProfile }] },
  { id: 'capabilities_baseline', level: 'baseline', versions: [{ since: 0, check: capabilities }] },
  { id: 'privileged', level: 'baseline', versions: [{ since: 0, check: privileged }] },
  {
    id: 'procMount',
    level: 'baseline',
    versions: [
      { since: 0, check: procMount },
      { since: 35, check: exceptInUserNamespace(procMount) },
    ],
  },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [
      { since: 0, check: seLinuxOptions(SELINUX_TYPES_1_0) },
      { since: 31, check: seLinuxOptions(SELINUX_TYPES_1_31) },
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      { since: 0, check: seccompAnnotations },
      { since: 19, check: seccompProfile },
    ],
  },
];
