import { MOST_PROCESSES, type Boot } from '../host/backend.ts';
import { BOOTED, GUEST } from '../image/guest-scripts.ts';

/** Its own disk, in its folder on the host. */
export const VOLUME = 'volume';

/** What root in a worker may do: to itself. The sandbox answers for all of it, not this machine's kernel. */
const CAPABILITIES = [
  'CAP_AUDIT_WRITE',
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_KILL',
  'CAP_MKNOD',
  'CAP_NET_ADMIN',
  'CAP_NET_BIND_SERVICE',
  'CAP_NET_RAW',
  'CAP_SETFCAP',
  'CAP_SETGID',
  'CAP_SETPCAP',
  'CAP_SETUID',
  'CAP_SYS_ADMIN',
  'CAP_SYS_CHROOT',
  'CAP_SYS_PTRACE',
  'CAP_SYS_RESOURCE',
];

/** The first process reaps the others, and starts the agent again when it ends. */
const FIRST = 'mkdir -p /var/lib /var/log; while :; do /etc/agent; done';

/** Where things of one sandbox are on the host. */
export interface SandboxPlaces {
  /** Path of its network namespace; absent: it has no network. */
  network?: string;
  cgroup: string;
  settings: string;
  volume: string;
}

/** The OCI bundle of a sandbox: the shared image as its root, and nothing of the host but its own disk and settings. */
export function sandboxBundle({ image, wanted, id }: Boot, places: SandboxPlaces): object {
  const probe = `echo '${BOOTED}' "$(uname -r)"`;
  const capabilities = Object.fromEntries(['bounding', 'effective', 'permitted', 'inheritable'].map((set) => [set, CAPABILITIES]));
  const namespaces = ['pid', 'ipc', 'uts', 'mount'].map((type): { type: string; path?: string } => ({ type }));
  return {
    ociVersion: '1.0.2',
    hostname: wanted?.name ?? id,
    root: { path: image.tree, readonly: true },
    process: {
      user: { uid: 0, gid: 0 },
      cwd: '/',
      args: ['/bin/sh', '-c', wanted === undefined ? probe : FIRST],
      env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin'],
      capabilities,
      rlimits: [{ type: 'RLIMIT_NOFILE', hard: 65_536, soft: 65_536 }],
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/sys', type: 'sysfs', source: 'sysfs', options: ['nosuid', 'noexec', 'nodev', 'ro'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs' },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs' },
      { destination: '/run', type: 'tmpfs', source: 'tmpfs' },
      ...(wanted === undefined ? [] : ownMounts(places)),
    ],
    linux: {
      namespaces: [...namespaces, { type: 'network', ...(places.network === undefined ? {} : { path: places.network }) }],
      ...(wanted === undefined ? {} : { cgroupsPath: `/${places.cgroup}`, resources: limits(wanted) }),
    },
  };
}

function ownMounts({ settings, volume }: SandboxPlaces): object[] {
  const bind = (destination: string, source: string, ...options: string[]) => ({
    destination,
    type: 'bind',
    source,
    options: ['bind', ...options],
  });
  return [
    bind('/var', volume, 'rw'),
    bind(GUEST.settings, settings, 'ro'),
    bind('/run/hosts', `${settings}/hosts`, 'ro'),
    bind('/run/resolv.conf', `${settings}/resolv.conf`, 'ro'),
  ];
}

/** A sandbox has no hardware that would bound it. */
function limits({ cpus, memoryBytes }: { cpus: number; memoryBytes: number }): object {
  const period = 100_000;
  return { memory: { limit: memoryBytes }, cpu: { period, quota: Math.round(cpus * period) }, pids: { limit: MOST_PROCESSES } };
}
