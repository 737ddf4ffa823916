import { isUserOrGroupId } from '../../../../kube/ports.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { internalForm } from '../internal-form.ts';
import { checkLocalDescending } from '../relative-paths.ts';
import type { Path } from '../path.ts';
import type { PodOptions } from './options.ts';
import { checkWindowsOptions } from './windows.ts';

function checkId(out: Findings, id: number | undefined, at: Path): void {
  if (id !== undefined) out.invalidEach(at, id, isUserOrGroupId(id));
}

const SECCOMP_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function checkSeccompProfile(out: Findings, profile: Json, at: Path): void {
  if (profile === undefined) return;
  const { type = '', localhostProfile } = profile;
  if (type === '') out.required(at.child('type'), 'type is required when seccompProfile is set');
  else if (!SECCOMP_TYPES.includes(type)) out.notSupported(at.child('type'), type, SECCOMP_TYPES);
  const fileAt = at.child('localhostProfile');
  if (type === 'Localhost') {
    if (localhostProfile === undefined) out.required(fileAt, 'must be set when seccomp type is Localhost');
    else checkLocalDescending(out, localhostProfile, fileAt);
  } else if (localhostProfile !== undefined) {
    out.invalid(fileAt, internalForm('SeccompProfile', profile), 'can only be set when seccomp type is Localhost');
  }
}

const APPARMOR_MAX_LENGTH = 4095;

function checkAppArmorProfile(out: Findings, profile: Json, at: Path): void {
  if (profile === undefined) return;
  const { type = '', localhostProfile } = profile;
  const fileAt = at.child('localhostProfile');
  if (type === 'Localhost') {
    if (localhostProfile === undefined) return out.required(fileAt, 'must be set when AppArmor type is Localhost');
    const trimmed = localhostProfile.trim();
    if (trimmed !== localhostProfile) out.invalid(fileAt, localhostProfile, 'must not be padded with whitespace');
    else if (trimmed === '') out.required(fileAt, 'must be set when AppArmor type is Localhost');
    if (localhostProfile.length > APPARMOR_MAX_LENGTH) out.tooLong(fileAt, APPARMOR_MAX_LENGTH);
  } else if (type === 'RuntimeDefault' || type === 'Unconfined') {
    if (localhostProfile !== undefined) out.invalid(fileAt, localhostProfile, 'can only be set when AppArmor type is Localhost');
  } else if (type === '') out.required(at.child('type'), 'type is required when appArmorProfile is set');
  else out.notSupported(at.child('type'), type, ['Localhost', 'RuntimeDefault', 'Unconfined']);
}

/** Of a container. */
export function checkSecurityContext(out: Findings, context: Json, at: Path, hostUsers: boolean): void {
  if (context === undefined) return;
  checkId(out, context.runAsUser, at.child('runAsUser'));
  checkId(out, context.runAsGroup, at.child('runAsGroup'));
  const { procMount } = context;
  if (procMount !== undefined) {
    if (procMount !== 'Default' && procMount !== 'Unmasked') out.notSupported(at.child('procMount'), procMount, ['Default', 'Unmasked']);
    if (hostUsers && procMount === 'Unmasked') {
      out.invalid(at.child('procMount'), procMount, '`hostUsers` must be false to use `Unmasked`');
    }
  }
  checkSeccompProfile(out, context.seccompProfile, at.child('seccompProfile'));
  if (context.allowPrivilegeEscalation === false) checkNoEscalation(out, context, at);
  checkWindowsOptions(out, context.windowsOptions, at.child('windowsOptions'));
  checkAppArmorProfile(out, context.appArmorProfile, at.child('appArmorProfile'));
}

function checkNoEscalation(out: Findings, context: Json, at: Path): void {
  if (context.privileged === true) {
    const form = internalForm('SecurityContext', context);
    out.invalid(at, form, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
  }
  for (const capability of context.capabilities?.add ?? []) {
    if (capability !== 'CAP_SYS_ADMIN') continue;
    const form = internalForm('SecurityContext', context);
    out.invalid(at, form, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN');
  }
}

const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL = `^(${SYSCTL_SEGMENT}[\\./])*${SYSCTL_SEGMENT}$`;
const SYSCTL_RE = new RegExp(SYSCTL);
const IPC_SYSCTLS = new Set([
  'kernel.sem',
  'kernel.shmall',
  'kernel.shmmax',
  'kernel.shmmni',
  'kernel.shm_rmid_forced',
  'kernel.shm',
  'kernel.msgmax',
  'kernel.msgmnb',
  'kernel.msgmni',
  'kernel.msg',
]);

/** Slashes separate segments when one comes before the first dot; dots and slashes then trade places. */
function normalizeSysctl(name: string): string {
  const first = /[./]/.exec(name);
  if (first === null || first[0] === '.') return name;
  return name.replace(/[./]/g, (c) => (c === '.' ? '/' : '.'));
}

/** Why a sysctl of the Pod would change the node's, if it would. */
export function isHostSysctl(name: string, spec: Json): string | undefined {
  const normalized = normalizeSysctl(name).split('*', 1)[0];
  if (spec.hostNetwork && normalized.startsWith('net.')) return "may not be specified when 'hostNetwork' is true";
  const isIpc = IPC_SYSCTLS.has(normalized) || normalized.startsWith('fs.mqueue.');
  return spec.hostIPC && isIpc ? "may not be specified when 'hostIPC' is true" : undefined;
}

function checkSysctls(out: Findings, sysctls: Json[], spec: Json, options: PodOptions, at: Path): void {
  const names = new Set<string>();
  sysctls.forEach((sysctl, i) => {
    const name: string = sysctl.name ?? '';
    const nameAt = at.index(i).child('name');
    if (name === '') out.required(nameAt);
    else if (name.length > 253 || !SYSCTL_RE.test(name)) {
      out.invalid(nameAt, name, `must have at most 253 characters and match regex ${SYSCTL}`);
    } else if (names.has(name)) out.duplicate(nameAt, name);
    const host = options.allowHostSysctls ? undefined : isHostSysctl(name, spec);
    if (host !== undefined) out.invalid(nameAt, name, host);
    names.add(name);
  });
}

function checkPolicy(out: Findings, policy: string | undefined, supported: string[], at: Path): void {
  if (policy !== undefined && !supported.includes(policy)) out.notSupported(at, policy, supported);
}

/** Of the Pod; the host namespaces stand in the spec and belong to it. */
export function checkPodSecurityContext(out: Findings, spec: Json, at: Path, options: PodOptions): void {
  const context = spec.securityContext ?? {};
  checkId(out, context.fsGroup, at.child('fsGroup'));
  checkId(out, context.runAsUser, at.child('runAsUser'));
  checkId(out, context.runAsGroup, at.child('runAsGroup'));
  (context.supplementalGroups ?? []).forEach((id: number, i: number) => checkId(out, id, at.child('supplementalGroups').index(i)));
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    out.invalid(at.child('shareProcessNamespace'), true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  }
  if (context.sysctls !== undefined) checkSysctls(out, context.sysctls, spec, options, at.child('sysctls'));
  checkPolicy(out, context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], at.child('fsGroupChangePolicy'));
  checkSeccompProfile(out, context.seccompProfile, at.child('seccompProfile'));
  checkWindowsOptions(out, context.windowsOptions, at.child('windowsOptions'));
  checkAppArmorProfile(out, context.appArmorProfile, at.child('appArmorProfile'));
  checkPolicy(out, context.supplementalGroupsPolicy, ['Merge', 'Strict'], at.child('supplementalGroupsPolicy'));
  const selinux = options.allowAnySELinuxChangePolicy ? ['MountOption', 'Recursive'] : ['Recursive'];
  checkPolicy(out, context.seLinuxChangePolicy, selinux, at.child('seLinuxChangePolicy'));
}
