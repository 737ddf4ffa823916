import type { ContainerSpec, Mount, SecuritySpec } from '../../driver.ts';
import { containerCapabilities } from './capabilities.ts';
import { commandLine, environment } from '../../model/command.ts';
import { containerMounts, rootPropagation } from './mounts.ts';
import { containerResources, oomScoreAdjustment, type MachineResources } from './resources.ts';
import type { DeviceConfig, LinuxConfig, ProcessConfig, RuntimeConfig } from './runtime-config.ts';
import { defaultSeccompProfile, type SeccompProfile } from './seccomp-profile.ts';
import type { ProcessUser } from '../../model/user.ts';

/** What a container's configuration is made from besides its spec: found out on the machine and in the image. */
export interface Surroundings {
  root: string;
  cgroup: string;
  user: ProcessUser;
  sharedMemory: string;
  /** The Pod's own namespace for System V and POSIX queues; absent: a new one for this container. */
  ipcNamespace?: string;
  system: Mount[];
  /** For built-in images: where Node is. */
  programFolder?: string;
  capabilities: string[];
  machine: MachineResources;
  /** For profiles of type Localhost. */
  localProfile?: SeccompProfile;
  /** For privileged containers: those of the machine. */
  devices: DeviceConfig[];
}

const MASKED_PATHS = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
];
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** As other runtimes of Kubernetes do it: in a network of its own, a container may listen on any port and ping without being root. */
const NETWORK_SETTINGS = { 'net.ipv4.ip_unprivileged_port_start': '0', 'net.ipv4.ping_group_range': '0 2147483647' };

export function containerConfig(spec: ContainerSpec, around: Surroundings): RuntimeConfig {
  const capabilities = containerCapabilities(spec.security, around.capabilities);
  return {
    ociVersion: '1.0.2',
    process: processConfig(spec, capabilities, around),
    root: { path: around.root, readonly: spec.security.readOnlyRoot },
    hostname: spec.hostname,
    mounts: containerMounts(spec, around),
    linux: linuxConfig(spec, capabilities, around),
  };
}

function processConfig(spec: ContainerSpec, capabilities: string[], around: Surroundings): ProcessConfig {
  const { config } = spec.image;
  return {
    terminal: spec.terminal,
    user: around.user,
    args: commandLine(spec, config),
    env: environment(spec, config, around.programFolder),
    cwd: spec.workingDir || config.workingDir || '/',
    capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
    noNewPrivileges: !spec.security.allowPrivilegeEscalation && !spec.security.privileged,
    oomScoreAdj: oomScoreAdjustment(spec.limits, around.machine),
  };
}

function linuxConfig(spec: ContainerSpec, capabilities: string[], around: Surroundings): LinuxConfig {
  const { privileged } = spec.security;
  const config: LinuxConfig = {
    cgroupsPath: around.cgroup,
    namespaces: namespaces(spec, around),
    resources: containerResources(spec.limits, privileged, around.machine),
    maskedPaths: privileged ? [] : MASKED_PATHS,
    readonlyPaths: privileged ? [] : READONLY_PATHS,
  };
  const seccomp = seccompOf(spec.security, capabilities, around.localProfile);
  if (seccomp) config.seccomp = seccomp;
  const propagation = rootPropagation(spec.mounts);
  if (propagation) config.rootfsPropagation = propagation;
  if (spec.networkNamespace) config.sysctl = NETWORK_SETTINGS;
  if (privileged) config.devices = around.devices;
  return config;
}

function namespaces({ security, networkNamespace }: ContainerSpec, { ipcNamespace, machine }: Surroundings): LinuxConfig['namespaces'] {
  const own: LinuxConfig['namespaces'] = [{ type: 'mount' }, { type: 'uts' }];
  if (!security.hostPid) own.push({ type: 'pid' });
  if (!security.hostIpc) own.push(ipcNamespace ? { type: 'ipc', path: ipcNamespace } : { type: 'ipc' });
  if (networkNamespace) own.push({ type: 'network', path: networkNamespace });
  if (machine.cgroupVersion === 'v2' && !security.privileged) own.push({ type: 'cgroup' });
  return own;
}

function seccompOf(security: SecuritySpec, capabilities: string[], localProfile?: SeccompProfile): SeccompProfile | undefined {
  if (security.privileged) return undefined;
  switch (security.seccomp.type) {
    case 'RuntimeDefault':
      return defaultSeccompProfile(capabilities);
    case 'Localhost':
      return localProfile;
    case 'Unconfined':
      return undefined;
  }
}
