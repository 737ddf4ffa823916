import { describe, expect, it } from 'vitest';
import type { ContainerSpec, SecuritySpec } from '../../driver.ts';
import { containerConfig, type Surroundings } from './container-config.ts';

const SECURITY: SecuritySpec = {
  privileged: false,
  readOnlyRoot: false,
  allowPrivilegeEscalation: false,
  addCapabilities: [],
  dropCapabilities: [],
  seccomp: { type: 'RuntimeDefault' },
  hostPid: false,
  hostIpc: false,
};

function spec(more: Partial<Omit<ContainerSpec, 'security'>> & { security?: Partial<SecuritySpec> } = {}): ContainerSpec {
  return {
    id: 'u1.web.0',
    pod: { namespace: 'shop', name: 'web', uid: 'u1' },
    name: 'web',
    attempt: 0,
    image: {
      name: 'test.example/web:1',
      id: 'test.example/web@sha256:1',
      config: { entrypoint: ['/web'], cmd: [], env: [], workingDir: '/srv', user: '' },
      root: { layers: ['/layer'] },
    },
    env: {},
    hostname: 'web-0',
    user: { groups: [], mustNotBeRoot: false },
    mounts: [],
    limits: { pids: 100 },
    terminal: false,
    stdin: false,
    stdinOnce: false,
    logPath: '/log',
    ...more,
    security: { ...SECURITY, ...more.security },
  };
}

const around: Surroundings = {
  root: '/root-of-container',
  cgroup: '/product/podu1/web.0',
  user: { uid: 7, gid: 8, additionalGids: [8] },
  sharedMemory: '/shm',
  system: [],
  capabilities: ['CAP_CHOWN', 'CAP_SYS_ADMIN'],
  machine: { cgroupVersion: 'v1', countsSwap: true, memoryBytes: 1 << 30, oomScoreAdj: 0 },
  devices: [{ path: '/dev/fuse', type: 'c', major: 10, minor: 229, fileMode: 0o666, uid: 0, gid: 0 }],
};

const namespaces = (container: ContainerSpec, more: Partial<Surroundings> = {}): Record<string, string | undefined> =>
  Object.fromEntries(containerConfig(container, { ...around, ...more }).linux.namespaces.map(({ type, path }) => [type, path]));

describe('containerConfig', () => {
  it('contains a container by default: filter, masked paths, no new privileges, namespaces of its own', () => {
    const { process, linux, root } = containerConfig(spec(), around);
    expect(process).toMatchObject({ args: ['/web'], cwd: '/srv', noNewPrivileges: true, user: around.user });
    expect(linux.seccomp?.defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(linux.maskedPaths).toContain('/proc/kcore');
    expect(linux.readonlyPaths).toContain('/proc/sys');
    expect(linux.devices).toBeUndefined();
    expect(root).toEqual({ path: '/root-of-container', readonly: false });
    expect(namespaces(spec())).toEqual({ mount: undefined, uts: undefined, pid: undefined, ipc: undefined });
  });

  it('opens everything to a privileged container', () => {
    const { process, linux } = containerConfig(spec({ security: { privileged: true } }), around);
    expect(process.capabilities.bounding).toEqual(around.capabilities);
    expect(process.noNewPrivileges).toBe(false);
    expect(linux).toMatchObject({ maskedPaths: [], readonlyPaths: [], devices: around.devices });
    expect(linux.seccomp).toBeUndefined();
  });

  it('joins the namespaces of the Pod, and those of the machine when asked to', () => {
    expect(namespaces(spec({ networkNamespace: '/run/netns/p' }), { ipcNamespace: '/pods/u1/ipc' })).toEqual({
      mount: undefined,
      uts: undefined,
      pid: undefined,
      ipc: '/pods/u1/ipc',
      network: '/run/netns/p',
    });
    expect(Object.keys(namespaces(spec({ security: { hostPid: true, hostIpc: true } })))).toEqual(['mount', 'uts']);
  });

  it('hides the tree of cgroups, on v2', () => {
    expect(namespaces(spec(), { machine: { ...around.machine, cgroupVersion: 'v2' } })).toHaveProperty('cgroup');
  });

  it('changes settings of the network only in a network of its own', () => {
    expect(containerConfig(spec(), around).linux.sysctl).toBeUndefined();
    expect(containerConfig(spec({ networkNamespace: '/n' }), around).linux.sysctl).toHaveProperty(
      ['net.ipv4.ip_unprivileged_port_start'],
      '0',
    );
  });

  it.each([
    ['none, when Unconfined', { type: 'Unconfined' }, undefined],
    ['the node’s own, when Localhost', { type: 'Localhost', profile: 'p.json' }, { defaultAction: 'SCMP_ACT_LOG', syscalls: [] }],
  ] as const)('has as filter %s', (_, seccomp, expected) => {
    const localProfile = { defaultAction: 'SCMP_ACT_LOG', syscalls: [] };
    expect(containerConfig(spec({ security: { seccomp } }), { ...around, localProfile }).linux.seccomp).toEqual(expected);
  });

  it('runs in the Pod’s folder, when it names one', () => {
    expect(containerConfig(spec({ workingDir: '/tmp' }), around).process.cwd).toBe('/tmp');
  });
});
