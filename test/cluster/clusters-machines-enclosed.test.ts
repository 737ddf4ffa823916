import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Backend, Boot, Command } from '../../src/areas/clusters/machines/host/backend.ts';
import { enclosed } from '../../src/areas/clusters/machines/host/enclosed.ts';
import { endMachine } from '../../src/areas/clusters/machines/host/end-machine.ts';
import { launchMachine } from '../../src/areas/clusters/machines/host/launch-machine.ts';
import { MachineConsole } from '../../src/areas/clusters/machines/host/machine-console.ts';
import { qemuBackend } from '../../src/areas/clusters/machines/qemu/qemu-backend.ts';
import { aMachine } from '../../src/areas/clusters/machines/testing/a-machine.ts';
import type { ProcessIdentity } from '../../src/lib/process-table.ts';
import { filesInView, lastDescendant, statusOf } from '../support/enclosed-process.ts';
import { nodeTools, toolPath } from './node-tools.ts';

const USER = 1_900_088_001;
const MIB = 1024 * 1024;

/** A shell in the place of the kernel, which can do whatever a kernel that is a program can: as root in a guest may let it. */
describe('a machine that is enclosed', () => {
  const root = mkdtempSync(join(tmpdir(), 'tenantry-enclosed-'));
  const namespace = `tte-${randomBytes(4).toString('hex')}`;
  const image = { key: 'x', tree: '', disk: join(root, 'images/x/disk'), initramfs: join(root, 'images/x/initramfs') };
  const folder = join(root, 'machines/a');
  const wanted = aMachine({ network: { ...aMachine().network, device: { name: 'tap0', namespace: `/run/netns/${namespace}` } } });
  const boot: Boot = { id: 'a', user: USER, folder, image, wanted };

  beforeAll(async () => {
    await nodeTools('bwrap', 'busybox', 'ip', 'qemu-system-x86_64');
    mkdirSync(join(root, 'images/x'), { recursive: true, mode: 0o755 });
    for (const name of ['disk', 'initramfs', 'other']) writeFileSync(join(root, 'images/x', name), name);
    mkdirSync(join(root, 'machines/b'), { recursive: true });
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, USER, USER);
    execFileSync('ip', ['netns', 'add', namespace]);
    execFileSync('ip', ['-n', namespace, 'tuntap', 'add', 'tap0', 'mode', 'tap', 'user', String(USER)]);
  });

  afterAll(() => {
    execFileSync('ip', ['netns', 'delete', namespace]);
    rmSync(root, { recursive: true, force: true });
  });

  async function start(script: string): ReturnType<typeof launch> {
    const busybox = toolPath('busybox');
    return launch(() =>
      enclosed(boot, {
        bwrap: toolPath('bwrap'),
        setpriv: '/usr/bin/setpriv',
        shared: [image.disk, image.initramfs],
        memoryBytes: MIB,
        command: [busybox, 'sh', '-c', `b=${busybox}; ${script}`],
      }),
    );
  }

  async function launch(
    command: () => Promise<Command>,
  ): Promise<{ identity: ProcessIdentity; console: MachineConsole; ended: Promise<void> }> {
    rmSync(join(folder, 'output'), { force: true });
    execFileSync('mkfifo', ['-m', '600', join(folder, 'output')]);
    let tell!: () => void;
    const ended = new Promise<void>((resolve) => (tell = resolve));
    const console = MachineConsole.open(folder, undefined, tell);
    const { identity, go } = await launchMachine({ command } as unknown as Backend, boot);
    go();
    return { identity, console, ended };
  }

  async function said(script: string): Promise<string> {
    const { console, ended } = await start(script);
    await ended;
    return console.text;
  }

  it('sees no files but its own, the image, and what it is loaded from', async () => {
    const seen = (await said('$b find / -path /proc -prune -o ! -type d -print')).trim().split('\n');
    const loaded = seen.filter((path) => !/^\/(machines|images|dev)\//.test(path));
    expect(seen.filter((path) => !loaded.includes(path)).toSorted()).toEqual([
      '/dev/net/tun',
      '/dev/null',
      '/dev/urandom',
      '/images/x/disk',
      '/images/x/initramfs',
      '/machines/a/output',
    ]);
    expect(loaded.filter((path) => !/(\/busybox|\/setpriv|\.so[.\d]*)$/.test(path))).toEqual([]);
  });

  it('sees no processes but its own, and is nobody with no rights', async () => {
    const text = await said('$b grep -hs "^Name" /proc/[0-9]*/status; $b id -u; $b grep Cap /proc/self/status; $b cat ../../images/x/disk');
    const names = [...text.matchAll(/^Name:\s+(\S+)/gm)].map(([, name]) => name);
    expect(new Set(names)).toEqual(new Set(['bwrap', 'busybox']));
    expect(text).toContain(`\n${USER}\n`);
    expect([...text.matchAll(/^Cap\w+:\s+(\S+)/gm)].every(([, mask]) => /^0+$/.test(mask))).toBe(true);
    expect(text).toMatch(/disk$/);
  });

  it('writes to its folder and nowhere else, and has a limit of processes and memory', async () => {
    const tries = ['note', '/x', '/machines/x', '/images/x/disk', '/dev/x'].map(
      (path) => `(echo > ${path}) 2>/dev/null && echo wrote ${path}`,
    );
    const fill = '$b yes 2>/dev/null | $b head -c 4000000 > /dev/shm/y; $b du -k /dev/shm';
    const text = await said(`${tries.join('; ')}; $b grep "Max processes" /proc/self/limits; ${fill}`);
    expect([...text.matchAll(/wrote (\S+)/g)].map(([, path]) => path)).toEqual(['note']);
    expect(text).toMatch(/Max processes\s+8192\s+8192/);
    expect(Number(/^(\d+)\s+\/dev\/shm/m.exec(text)![1])).toBeLessThanOrEqual(1024);
  });

  it('opens its tap, in the network that it was started in', async () => {
    const text = await said('$b cat /proc/net/dev; $b tunctl -t tap0; $b tunctl -t tap1');
    expect(
      [...text.matchAll(/^\s*(\w+):/gm)]
        .map(([, name]) => name)
        .filter((name) => name !== 'tunctl')
        .toSorted(),
    ).toEqual(['lo', 'tap0']);
    // It tells the name of the one that it could open.
    expect(text).toMatch(/^tap0$/m);
    expect(text).not.toMatch(/^tap1$/m);
    expect(text).toContain('Operation not permitted');
  });

  it('is QEMU with nothing in view but what it needs, nobody with no rights, and few calls of the kernel', async () => {
    const kernel = { path: join(root, 'images/x/kernel'), release: '', modules: '' };
    writeFileSync(kernel.path, kernelThatWaits());
    rmSync(join(folder, 'note'), { force: true });
    for (const name of ['disk', 'settings']) {
      writeFileSync(join(folder, name), Buffer.alloc(4096));
      chownSync(join(folder, name), USER, USER);
    }
    const { identity, console, ended } = await launch(() => qemuBackend('tcg').command({ ...boot, image: { ...image, kernel } }));
    try {
      await expect.poll(() => existsSync(join(folder, 'console')) || console.text, { timeout: 30_000 }).toBe(true);
      const pid = lastDescendant(identity.pid);
      const { Name, Uid, Groups, NoNewPrivs, Seccomp } = statusOf(pid);
      expect({ Name, Uid, Groups, NoNewPrivs, Seccomp }).toEqual({
        Name: 'qemu-system-x86',
        Uid: Array(4).fill(USER).join(' '),
        Groups: '',
        NoNewPrivs: '1',
        Seccomp: '2',
      });
      const { CapInh, CapPrm, CapEff, CapBnd, CapAmb } = statusOf(pid);
      expect(new Set([CapInh, CapPrm, CapEff, CapBnd, CapAmb])).toEqual(new Set(['0000000000000000']));
      // Another number than the host's is the one that it knows of itself.
      expect(statusOf(pid)['NSpid']).toMatch(/^\d+ \d+$/);
      const seen = filesInView(pid);
      const own = seen.filter((path) => /^\/(machines|images|dev)\//.test(path));
      expect(own.filter((path) => !path.startsWith('/dev/'))).toEqual([
        ...['disk', 'initramfs', 'kernel'].map((name) => `/images/x/${name}`),
        ...['console', 'disk', 'output', 'settings'].map((name) => `/machines/a/${name}`),
      ]);
      expect(own.filter((path) => path.startsWith('/dev/'))).toEqual(['/dev/net/tun', '/dev/null', '/dev/urandom']);
      const loaded = /(\/qemu-system-x86_64|\/setpriv|\.so[.\d]*|\/(qemu|seabios)\/[\w-]+\.bin)$/;
      expect(seen.filter((path) => !own.includes(path) && !loaded.test(path))).toEqual([]);
    } finally {
      await endMachine(identity);
      await ended;
      for (const name of ['disk', 'settings', 'console']) rmSync(join(folder, name), { force: true });
    }
  }, 60_000);

  const HIDDEN = 'trap "" TERM HUP; $b setsid $b sleep 1000 & echo ready; $b sleep 1000; $b sleep 1000';
  it.each([
    { how: 'when it is ended and does not want to', end: (identity: ProcessIdentity) => endMachine(identity) },
    { how: 'when only its first process is killed', end: ({ pid }: ProcessIdentity) => Promise.resolve(process.kill(pid, 'SIGKILL')) },
  ])('leaves no process, however it hides, $how', async ({ end }) => {
    const { identity, console, ended } = await start(HIDDEN);
    await expect.poll(() => console.text, { timeout: 20_000 }).toContain('ready');
    expect(readFileSync(`/proc/${identity.pid}/status`, 'utf8')).toMatch(/^State:/m);
    await end(identity);
    // Whoever lived would hold its output open.
    await ended;
  });
});

/** As much of a kernel as QEMU looks for before it starts one; it waits for ever. */
function kernelThatWaits(): Buffer {
  const kernel = Buffer.alloc(16_384);
  kernel[0x1f1] = 1;
  // A jump over the header, to: no interrupts, halt, again.
  kernel.set([0xeb, 0x66], 0x200);
  kernel.set([0xfa, 0xf4, 0xeb, 0xfc], 0x268);
  kernel.write('HdrS', 0x202);
  kernel.writeUInt16LE(0x020c, 0x206);
  kernel[0x211] = 1;
  kernel.writeUInt32LE(0x37ffffff, 0x22c);
  return kernel;
}
