import type { Json } from '../../../../kube/object.ts';
import { allContainers, containersText, joinQuoted, plural, settersText, sorted, type Check, type CheckPod } from './check.ts';

/** The baseline checks on what a pod may see and use of its host. */

const hostNamespaces: CheckPod = (spec) => {
  const used = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field]);
  if (used.length === 0) return undefined;
  return { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') };
};

const hostPathVolumes: CheckPod = (spec) => {
  const bad = (spec.volumes ?? []).filter((volume: Json) => volume.hostPath).map((volume: Json) => volume.name);
  if (bad.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${plural(bad.length, 'volume')} ${joinQuoted(bad)}` };
};

const hostPorts: CheckPod = (spec) => {
  const bad: string[] = [];
  const ports: string[] = [];
  for (const container of allContainers(spec)) {
    const used = (container.ports ?? []).filter((port: Json) => port.hostPort).map((port: Json) => String(port.hostPort));
    if (used.length > 0) bad.push(container.name);
    ports.push(...used);
  }
  if (bad.length === 0) return undefined;
  const distinct = sorted(ports);
  const uses = plural(bad.length, 'uses', 'use');
  return { reason: 'hostPort', detail: `${containersText(bad)} ${uses} ${plural(distinct.length, 'hostPort')} ${distinct.join(', ')}` };
};

const hostProbesAndHostLifecycle: CheckPod = (spec) => {
  const bad: string[] = [];
  const hosts: string[] = [];
  for (const container of allContainers(spec)) {
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
    const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
    const used = handlers.flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host]).filter(Boolean);
    if (used.length > 0) bad.push(container.name);
    hosts.push(...used);
  }
  if (bad.length === 0) return undefined;
  const containers = sorted(bad);
  const distinct = sorted(hosts);
  const what = plural(distinct.length, 'probe or lifecycle host');
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersText(containers)} ${plural(containers.length, 'uses', 'use')} ${what} ${joinQuoted(distinct)}`,
  };
};

const windowsHostProcess: CheckPod = (spec) => {
  const bad = allContainers(spec)
    .filter((container) => container.securityContext?.windowsOptions?.hostProcess)
    .map((container) => container.name);
  const pod = Boolean(spec.securityContext?.windowsOptions?.hostProcess);
  if (!pod && bad.length === 0) return undefined;
  return { reason: 'hostProcess', detail: `${settersText(pod, bad)} must not set securityContext.windowsOptions.hostProcess=true` };
};

const SYSCTLS_1_0 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const SYSCTLS_1_27 = [...SYSCTLS_1_0, 'net.ipv4.ip_local_reserved_ports'];
const SYSCTLS_1_29 = [
  ...SYSCTLS_1_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
const SYSCTLS_1_32 = [...SYSCTLS_1_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

function sysctls(allowed: string[]): CheckPod {
  return (spec) => {
    const names: string[] = (spec.securityContext?.sysctls ?? []).map((sysctl: Json) => sysctl.name);
    const bad = names.filter((name) => !allowed.includes(name));
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
  };
}

export const BASELINE_HOST_CHECKS: Check[] = [
  { id: 'hostNamespaces', level: 'baseline', versions: [{ since: 0, check: hostNamespaces }] },
  { id: 'hostPathVolumes', level: 'baseline', versions: [{ since: 0, check: hostPathVolumes }] },
  { id: 'hostPorts', level: 'baseline', versions: [{ since: 0, check: hostPorts }] },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', versions: [{ since: 34, check: hostProbesAndHostLifecycle }] },
  {
    id: 'sysctls',
    level: 'baseline',
    versions: [
      { since: 0, check: sysctls(SYSCTLS_1_0) },
      { since: 27, check: sysctls(SYSCTLS_1_27) },
      { since: 29, check: sysctls(SYSCTLS_1_29) },
      { since: 32, check: sysctls(SYSCTLS_1_32) },
    ],
  },
  { id: 'windowsHostProcess', level: 'baseline', versions: [{ since: 0, check: windowsHostProcess }] },
];
