import { describe, expect, it } from 'vitest';
import { aMachine } from '../testing/a-machine.ts';
import { asItsUser, inItsNetwork } from './confined.ts';
import { viewOf } from './enclosed.ts';

const folder = '/data/workers/machines/a';
const image = { key: 'x', tree: '/data/workers/images/x/tree', disk: '/data/workers/images/x/disk', initramfs: '' };

describe('viewOf', () => {
  const options = viewOf(folder, { system: ['/usr/bin/linux.uml', '/lib/libc.so.6'], shared: [image.disk], memoryBytes: 4096 });
  const pairsOf = (flag: string) => options.flatMap((word, index) => (word === flag ? [options.slice(index + 1, index + 3)] : []));

  it('shows the image to be read, where a path that begins in the folder of the machine finds it', () => {
    expect(pairsOf('--ro-bind')).toContainEqual([image.disk, '/images/x/disk']);
    expect(pairsOf('--bind')).toEqual([[folder, '/machines/a']]);
  });

  it('shows programs and libraries as they are, one by one', () => {
    expect(pairsOf('--ro-bind')).toHaveLength(3);
    expect(pairsOf('--ro-bind')).toContainEqual(['/usr/bin/linux.uml', '/usr/bin/linux.uml']);
  });

  it('makes what is above of it open to others than root, the outer ones first', () => {
    const made = pairsOf('--dir').map(([path]) => path);
    expect(made).toEqual(expect.arrayContaining(['/usr', '/usr/bin', '/lib', '/images', '/images/x', '/machines', '/dev', '/dev/net']));
    expect(made.indexOf('/usr')).toBeLessThan(made.indexOf('/usr/bin'));
  });

  it('shows the devices that it was given besides, and what is above of them', () => {
    const kvm = viewOf(folder, { system: [], shared: [], memoryBytes: 1, devices: ['/dev/kvm'] });
    expect(kvm.join(' ')).toContain('--dev-bind-try /dev/kvm /dev/kvm');
    expect(options.join(' ')).not.toContain('/dev/kvm');
  });

  it('stays in the network that it is started in, and ends with whoever started it', () => {
    expect(options).not.toContain('--unshare-net');
    expect(options).toContain('--die-with-parent');
  });
});

describe('inItsNetwork', () => {
  it.each([
    { name: 'a worker, in the namespace of its tap', wanted: aMachine(), begins: ['nsenter', '--net=/run/netns/router', '--'] },
    { name: 'a try, without a network', wanted: undefined, begins: ['unshare', '--net', '--'] },
  ])('bounds the processes of the user that it becomes: $name', ({ wanted, begins }) => {
    const { program, args } = inItsNetwork({ wanted }, ['bwrap']);
    expect([program, ...args]).toEqual([...begins, 'prlimit', '--nproc=8192', '--', 'bwrap']);
  });
});

describe('asItsUser', () => {
  it('leaves no right and no group but the one of its device', () => {
    const words = asItsUser('setpriv', 7, ['qemu'], 3);
    expect(words).toEqual(expect.arrayContaining(['--reuid=7', '--regid=7', '--groups=3', '--no-new-privs', '--bounding-set=-all']));
    expect(asItsUser('setpriv', 7, ['qemu'])).toContain('--clear-groups');
    expect(words.at(-1)).toBe('qemu');
  });
});
