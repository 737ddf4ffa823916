import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { detailsText, evaluatePod } from './evaluate.ts';
import { LATEST, type Level } from './policy.ts';

const container = (securityContext?: Json, extra: Json = {}) => ({ name: 'c', securityContext, ...extra });
const spec = (fields: Json = {}) => ({ containers: [container()], ...fields });
const SAFE = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [container({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })],
};

function verdict(level: Level, podSpec: Json, minor = LATEST, annotations: Record<string, string> = {}): string {
  return detailsText(evaluatePod({ level, minor }, { annotations }, podSpec));
}

describe('evaluatePod at baseline', () => {
  it.each<[string, Json, string]>([
    ['host namespaces', spec({ hostNetwork: true, hostPID: true }), 'host namespaces (hostNetwork=true, hostPID=true)'],
    ['hostPath volumes', spec({ volumes: [{ name: 'h', hostPath: { path: '/' } }] }), 'hostPath volumes (volume "h")'],
    [
      'host ports',
      spec({ containers: [container({}, { ports: [{ hostPort: 80 }, { hostPort: 443 }] })] }),
      'hostPort (container "c" uses hostPorts 443, 80)',
    ],
    [
      'probe hosts',
      spec({ containers: [container({}, { livenessProbe: { httpGet: { host: '10.0.0.1' } } })] }),
      'probe or lifecycle host (container "c" uses probe or lifecycle host "10.0.0.1")',
    ],
    [
      'privileged containers',
      spec({ containers: [container({ privileged: true }), { name: 'd', securityContext: { privileged: true } }] }),
      'privileged (containers "c", "d" must not set securityContext.privileged=true)',
    ],
    [
      'capabilities',
      spec({ containers: [container({ capabilities: { add: ['NET_RAW', 'CHOWN', 'BPF'] } })] }),
      'non-default capabilities (container "c" must not include "BPF", "NET_RAW" in securityContext.capabilities.add)',
    ],
    [
      'proc mounts',
      spec({ containers: [container({ procMount: 'Unmasked' })] }),
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      'SELinux options',
      spec({ securityContext: { seLinuxOptions: { type: 'spc_t', user: 'u', role: 'r' } } }),
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
    ],
    [
      'seccomp profiles',
      spec({
        securityContext: { seccompProfile: { type: 'Unconfined' } },
        containers: [container({ seccompProfile: { type: 'Unconfined' } })],
      }),
      'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    ['sysctls', spec({ securityContext: { sysctls: [{ name: 'kernel.msgmax' }] } }), 'forbidden sysctls (kernel.msgmax)'],
    [
      'Windows host processes',
      spec({ securityContext: { windowsOptions: { hostProcess: true } } }),
      'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
    ],
  ])('forbids %s', (_name, podSpec, expected) => {
    expect(verdict('baseline', podSpec)).toBe(expected);
  });

  it('forbids AppArmor profiles given by field and by annotation', () => {
    const podSpec = spec({ containers: [container({ appArmorProfile: { type: 'Unconfined' } })] });
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' };
    expect(verdict('baseline', podSpec, LATEST, annotations)).toBe(
      'forbidden AppArmor profiles (container "c" and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
    );
  });

  it('allows a plain pod', () => {
    expect(verdict('baseline', spec())).toBe('');
  });
});

describe('evaluatePod at restricted', () => {
  it('asks a plain pod for everything, baseline findings first', () => {
    expect(verdict('restricted', spec())).toBe(
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
        'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    );
  });

  it('allows a pod that sets all it asks for', () => {
    expect(verdict('restricted', SAFE)).toBe('');
  });

  it.each<[string, Json, string]>([
    [
      'volumes, naming host paths once',
      {
        ...SAFE,
        volumes: [
          { name: 'h', hostPath: {} },
          { name: 'n', nfs: {} },
          { name: 'e', emptyDir: {} },
        ],
      },
      'restricted volume types (volumes "h", "n" use restricted volume types "hostPath", "nfs")',
    ],
    [
      'root by user id',
      { ...SAFE, securityContext: { ...SAFE.securityContext, runAsUser: 0 } },
      'runAsUser=0 (pod must not set runAsUser=0)',
    ],
    [
      'root by flag',
      { ...SAFE, securityContext: { ...SAFE.securityContext, runAsNonRoot: false } },
      'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)',
    ],
    [
      'added capabilities, instead of the baseline check',
      { ...SAFE, containers: [container({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'], add: ['NET_RAW'] } })] },
      'unrestricted capabilities (container "c" must not include "NET_RAW" in securityContext.capabilities.add)',
    ],
  ])('forbids %s', (_name, podSpec, expected) => {
    expect(verdict('restricted', podSpec)).toBe(expected);
  });
});

describe('evaluatePod as of a version', () => {
  const windows = { os: { name: 'windows' }, securityContext: { runAsNonRoot: true }, containers: [container()] };
  it('exempts Windows pods from Linux checks since 1.25', () => {
    expect(verdict('restricted', windows, 25)).toBe('');
    expect(verdict('restricted', windows, 24)).toContain('allowPrivilegeEscalation != false');
  });

  it('relaxes for pods in a user namespace since 1.35', () => {
    const podSpec = { ...SAFE, hostUsers: false, securityContext: { seccompProfile: { type: 'RuntimeDefault' }, runAsUser: 0 } };
    expect(verdict('restricted', podSpec, 35)).toBe('');
    expect(verdict('restricted', podSpec, 34)).toContain('runAsUser=0');
  });

  it('reads seccomp annotations before 1.19', () => {
    const annotations = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' };
    expect(verdict('baseline', spec(), 18, annotations)).toBe(
      'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    );
    expect(verdict('baseline', spec(), 19, annotations)).toBe('');
  });

  it('allows more sysctls in newer versions', () => {
    const podSpec = spec({ securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem' }] } });
    expect(verdict('baseline', podSpec, 31)).toBe('forbidden sysctls (net.ipv4.tcp_rmem)');
    expect(verdict('baseline', podSpec, 32)).toBe('');
  });

  it('treats versions newer than known as the newest known', () => {
    expect(verdict('restricted', spec(), 99)).toBe(verdict('restricted', spec(), 35));
  });
});
