import { describe, expect, it } from 'vitest';
import { sandboxCommand, type SandboxPlan } from './bubblewrap.ts';

const plan: SandboxPlan = {
  bwrap: '/usr/bin/bwrap',
  hostname: 'web-0',
  hostIpc: false,
  system: [
    { kind: 'folder', path: '/usr' },
    { kind: 'link', path: '/bin', to: 'usr/bin' },
    { kind: 'folder', path: '/etc/hosts' },
  ],
  mounts: [],
  workingDir: '/',
  temporary: '/node/c/tmp',
  sharedMemory: '/node/c/shm',
};

/** The options as one text, so that order can be told. */
const optionsOf = (more: Partial<SandboxPlan> = {}) => sandboxCommand({ ...plan, ...more }).join(' ');

describe('sandboxCommand', () => {
  it('shows the machine read-only and links as links', () => {
    expect(optionsOf()).toContain('--ro-bind /usr /usr --symlink usr/bin /bin --ro-bind /etc/hosts /etc/hosts');
  });

  it("leaves a Pod's own files in the place of the machine's", () => {
    const mounts = ['/etc/hosts', '/usr'].map((target) => ({ source: `/pod${target}`, target, readOnly: false }));
    expect(optionsOf({ mounts })).toMatch(/--bind \/pod\/usr \/usr --bind \/pod\/etc\/hosts \/etc\/hosts --remount-ro \/ --$/);
  });

  it('puts an empty folder over what is hidden inside of what is shown', () => {
    const system: SandboxPlan['system'] = [...plan.system, { kind: 'hidden', path: '/usr/local/data' }];
    expect(optionsOf({ system })).toContain('--ro-bind /etc/hosts /etc/hosts --tmpfs /usr/local/data --remount-ro /usr/local/data');
  });

  it('shows a product that is installed below /tmp or a volume on top of them', () => {
    const system: SandboxPlan['system'] = [...plan.system, { kind: 'folder', path: '/tmp/product/dist' }];
    expect(optionsOf({ system })).toMatch(
      /--bind \/node\/c\/tmp \/tmp .*--dir \/tmp\/product --ro-bind \/tmp\/product\/dist \/tmp\/product\/dist --remount-ro/,
    );
  });

  it('never dies with its parent, which is the shim', () => {
    expect(optionsOf()).not.toContain('--die-with-parent');
  });

  it('closes the root after everything was put there', () => {
    expect(optionsOf({ mounts: [{ source: '/v', target: '/data', readOnly: false }] })).toMatch(/--bind \/v \/data --remount-ro \/ --$/);
  });

  it('mounts outer volumes before inner ones, and makes the way to them open to all', () => {
    const mounts = [
      { source: '/inner', target: '/srv/data/inner', readOnly: true },
      { source: '/outer', target: '/srv/data', readOnly: false },
    ];
    expect(optionsOf({ mounts })).toContain('--bind /outer /srv/data --ro-bind /inner /srv/data/inner');
    expect(optionsOf({ mounts })).toContain('--dir /srv ');
    expect(optionsOf({ mounts })).not.toContain('--dir /srv/data ');
  });

  it.each<[string, Partial<SandboxPlan>, string, boolean]>([
    ['its own user namespace without root', { user: { uid: 7, gid: 8 } }, '--unshare-user --uid 7 --gid 8', true],
    ['no user namespace as root', {}, '--unshare-user', false],
    ["the machine's IPC when asked", { hostIpc: true }, '--unshare-ipc', false],
    ['a folder for temporary files', {}, '--bind /node/c/tmp /tmp', true],
    ['no place to write with a read-only root', { temporary: undefined }, '--bind /node/c/tmp /tmp', false],
    ['a working directory that nobody has made', { workingDir: '/work' }, '--dir /work', true],
    [
      'no folder for one in a volume',
      { workingDir: '/v/x', mounts: [{ source: '/s', target: '/v', readOnly: true }] },
      '--dir /v/x',
      false,
    ],
  ])('has %s', (_name, more, option, expected) => {
    expect(optionsOf(more).includes(option)).toBe(expected);
  });
});
