import { describe, expect, it } from 'vitest';
import { aMachine } from '../testing/a-machine.ts';
import { confined } from './confined.ts';
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

  it('stays in the network that it is started in, and ends with whoever started it', () => {
    expect(options).not.toContain('--unshare-net');
    expect(options).toContain('--die-with-parent');
  });
});

describe('confined', () => {
  const boot = { id: 'a', user: 7, folder, image };

  it.each([
    { name: 'a worker, in the namespace of its tap', wanted: aMachine(), begins: ['nsenter', '--net=/run/netns/router', '--'] },
    { name: 'a try, without a network', wanted: undefined, begins: ['unshare', '--net', '--'] },
  ])('bounds the processes of the user that it becomes: $name', ({ wanted, begins }) => {
    const { program, args } = confined({ ...boot, wanted }, ['qemu'], 3);
    expect([program, ...args].slice(0, 7)).toEqual([...begins, 'prlimit', '--nproc=8192', '--', 'setpriv']);
    expect(args).toEqual(expect.arrayContaining(['--reuid=7', '--regid=7', '--groups=3', '--no-new-privs']));
    expect(args.at(-1)).toBe('qemu');
  });
});
