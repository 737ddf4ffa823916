import { describe, expect, it } from 'vitest';
import type { Mount, SecuritySpec } from '../../driver.ts';
import { containerMounts, rootPropagation } from './mounts.ts';

const SECURITY = { privileged: false, hostIpc: false } as SecuritySpec;
const around = { sharedMemory: '/pods/1/shm', system: [] as Mount[] };
const volume = (target: string, more: Partial<Mount> = {}): Mount => ({ source: `/volumes${target}`, target, readOnly: false, ...more });

describe('containerMounts', () => {
  it('makes the kernel’s file systems first, read-only where a container must not write', () => {
    const mounts = containerMounts({ mounts: [], security: SECURITY }, around);
    expect(mounts.map(({ destination }) => destination)).toEqual([
      '/proc',
      '/dev',
      '/dev/pts',
      '/dev/mqueue',
      '/sys',
      '/sys/fs/cgroup',
      '/dev/shm',
    ]);
    expect(mounts.find(({ destination }) => destination === '/sys')?.options).toContain('ro');
  });

  it('lets privileged containers write to /sys', () => {
    const mounts = containerMounts({ mounts: [], security: { ...SECURITY, privileged: true } }, around);
    expect(mounts.find(({ destination }) => destination === '/sys')?.options).toContain('rw');
  });

  it('makes outer mounts before inner ones, whatever the order in the Pod', () => {
    const mounts = containerMounts(
      { mounts: [volume('/data/inner/deep'), volume('/data'), volume('/data/inner/')], security: SECURITY },
      around,
    );
    expect(mounts.slice(-3).map(({ destination }) => destination)).toEqual(['/data', '/data/inner', '/data/inner/deep']);
  });

  it("leaves a volume in the place of the machine's files", () => {
    const system = [volume('/usr', { readOnly: true }), volume('/etc/ssl/certs', { readOnly: true })];
    const mounts = containerMounts({ mounts: [volume('/etc/ssl')], security: SECURITY }, { ...around, system });
    expect(mounts.at(-1)!.destination).toBe('/etc/ssl');
  });

  it('shows a product that is installed below a volume on top of it', () => {
    const system = [volume('/usr', { readOnly: true }), volume('/tmp/product/dist', { readOnly: true })];
    const mounts = containerMounts({ mounts: [volume('/tmp')], security: SECURITY }, { ...around, system });
    expect(mounts.slice(-3).map(({ destination }) => destination)).toEqual(['/usr', '/tmp', '/tmp/product/dist']);
  });

  it('puts a volume in the place of one of its own, when they have the same target', () => {
    const mounts = containerMounts({ mounts: [volume('/dev/shm')], security: SECURITY }, around);
    expect(mounts.filter(({ destination }) => destination === '/dev/shm')).toEqual([
      { destination: '/dev/shm', type: 'bind', source: '/volumes/dev/shm', options: ['rbind', 'rprivate', 'rw'] },
    ]);
  });

  it('shares memory within the Pod, or with the machine when asked to', () => {
    const source = (hostIpc: boolean): string | undefined =>
      containerMounts({ mounts: [], security: { ...SECURITY, hostIpc } }, around).find(({ destination }) => destination === '/dev/shm')
        ?.source;
    expect(source(false)).toBe('/pods/1/shm');
    expect(source(true)).toBe('/dev/shm');
  });

  it.each([
    ['private and writable', {}, ['rbind', 'rprivate', 'rw']],
    ['read-only', { readOnly: true }, ['rbind', 'rprivate', 'ro']],
    ['following the machine', { propagation: 'HostToContainer' }, ['rbind', 'rslave', 'rw']],
    ['both ways', { propagation: 'Bidirectional' }, ['rbind', 'rshared', 'rw']],
  ] as const)('binds a volume %s', (_, more, options) => {
    expect(containerMounts({ mounts: [volume('/v', more)], security: SECURITY }, around).at(-1)?.options).toEqual(options);
  });
});

describe('rootPropagation', () => {
  it.each([
    ['absent', [volume('/a')], undefined],
    ['that of a follower', [volume('/a'), volume('/b', { propagation: 'HostToContainer' })], 'rslave'],
    [
      'shared, when one volume needs it',
      [volume('/b', { propagation: 'HostToContainer' }), volume('/a', { propagation: 'Bidirectional' })],
      'rshared',
    ],
  ])('is %s', (_, mounts, expected) => {
    expect(rootPropagation(mounts)).toBe(expected);
  });
});
