import { isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import type { Path } from '../path.ts';
import { visitContainers } from './visit.ts';

const CONTROL = /\p{Cc}/u;
const NETBIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const DOMAIN = new RegExp(`^${DNS_LABEL}(?:\\.${DNS_LABEL})*$`);
const USER_CHARACTERS = /["/\\:;|=,+*?<>@[\]]/;
const ONLY_DOTS_OR_SPACES = /^[. ]+$/;
const GMSA_MAX_KIB = 64;

export function checkWindowsOptions(out: Findings, options: Json, at: Path): void {
  if (options === undefined) return;
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  if (gmsaCredentialSpecName !== undefined) {
    out.invalidEach(at.child('gmsaCredentialSpecName'), gmsaCredentialSpecName, isDns1123Subdomain(gmsaCredentialSpecName));
  }
  if (gmsaCredentialSpec === '') {
    out.invalid(at.child('gmsaCredentialSpec'), '', 'gmsaCredentialSpec cannot be an empty string');
  } else if (gmsaCredentialSpec?.length > GMSA_MAX_KIB * 1024) {
    out.invalid(at.child('gmsaCredentialSpec'), gmsaCredentialSpec, `gmsaCredentialSpec size must be under ${GMSA_MAX_KIB} KiB`);
  }
  if (runAsUserName !== undefined) {
    for (const message of userNameErrors(runAsUserName)) out.invalid(at.child('runAsUserName'), runAsUserName, `runAsUserName${message}`);
  }
}

function userNameErrors(name: string): string[] {
  if (name === '') return [' cannot be an empty string'];
  if (CONTROL.test(name)) return [' cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return [' cannot contain more than one backslash'];
  const user = parts[parts.length - 1];
  const errors: string[] = [];
  if (parts.length === 2) {
    if (parts[0].length >= 256) errors.push("'s Domain length must be under 256 characters");
    if (!NETBIOS.test(parts[0]) && !DOMAIN.test(parts[0])) errors.push("'s Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === '') errors.push("'s User cannot be empty");
  else if (user.length > 104) errors.push("'s User length must not be longer than 104 characters");
  if (ONLY_DOTS_OR_SPACES.test(user)) errors.push("'s User cannot contain only periods or spaces");
  if (USER_CHARACTERS.test(user)) errors.push('\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  return errors;
}

/** HostProcess containers: all of a Pod's or none, and in the host's network. */
export function checkHostProcess(out: Findings, spec: Json, at: Path): void {
  const podValue: boolean | undefined = spec.securityContext?.windowsOptions?.hostProcess;
  let count = 0;
  let hostProcesses = 0;
  visitContainers(spec, at, (container, containerAt) => {
    count++;
    const own: boolean | undefined = container.securityContext?.windowsOptions?.hostProcess;
    if (podValue !== undefined && own !== undefined && podValue !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${podValue}`;
      out.invalid(containerAt().child('securityContext', 'windowsOptions', 'hostProcess'), own, detail);
    }
    if (own ?? podValue) hostProcesses++;
  });
  if (hostProcesses === 0) return;
  if (hostProcesses !== count) {
    out.invalid(at, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers');
  }
  if (!spec.hostNetwork) {
    out.invalid(at.child('hostNetwork'), false, 'hostNetwork must be true if pod contains any hostProcess containers');
  }
}

export function checkOs(out: Findings, spec: Json, at: Path): void {
  const name: string = spec.os.name ?? '';
  if (name === '') out.required(at.child('os', 'name'));
  else if (name === 'linux') checkLinux(out, spec, at);
  else if (name === 'windows') checkWindows(out, spec, at);
  else out.notSupported(at.child('os'), name, ['linux', 'windows']);
}

function checkLinux(out: Findings, spec: Json, at: Path): void {
  const detail = 'windows options cannot be set for a linux pod';
  if (spec.securityContext?.windowsOptions !== undefined) out.forbidden(at.child('securityContext', 'windowsOptions'), detail);
  visitContainers(spec, at, (container, containerAt) => {
    if (container.securityContext?.windowsOptions !== undefined) {
      out.forbidden(containerAt().child('securityContext', 'windowsOptions'), detail);
    }
  });
}

/** In the order of the messages; a dot in front means the field stands in the spec itself. */
const LINUX_ONLY_POD_FIELDS = [
  'appArmorProfile',
  'seLinuxOptions',
  '.hostUsers',
  '.hostPID',
  '.hostIPC',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  '.shareProcessNamespace',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
];
const LINUX_ONLY_CONTAINER_FIELDS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

function checkWindows(out: Findings, spec: Json, at: Path): void {
  const detail = 'cannot be set for a windows pod';
  for (const field of LINUX_ONLY_POD_FIELDS) {
    const inSpec = field.startsWith('.');
    const name = inSpec ? field.slice(1) : field;
    const value = inSpec ? spec[name] : spec.securityContext?.[name];
    const isFlag = name === 'hostPID' || name === 'hostIPC';
    const isList = name === 'sysctls';
    if (value === undefined || (isFlag && value === false) || (isList && value.length === 0)) continue;
    out.forbidden(inSpec ? at.child(name) : at.child('securityContext', name), detail);
  }
  visitContainers(spec, at, (container, containerAt) => {
    for (const field of LINUX_ONLY_CONTAINER_FIELDS) {
      if (container.securityContext?.[field] !== undefined) out.forbidden(containerAt().child('securityContext', field), detail);
    }
  });
}
