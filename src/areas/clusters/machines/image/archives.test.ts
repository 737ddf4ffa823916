import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { aMachine } from '../testing/a-machine.ts';
import { cpio, directory, file } from './cpio.ts';
import { guestSettings } from './guest-settings.ts';
import { librariesIn } from './system-files.ts';
import { tar } from './tar.ts';

describe('what a guest begins with', () => {
  it('is an archive that others can read', () => {
    const archive = tar(guestSettings(aMachine()));
    const read = (name: string) =>
      execFileSync('tar', ['-xOf', '-', name], { input: Buffer.concat([archive, Buffer.alloc(4096)]), encoding: 'utf8' });
    expect(read('address')).toBe('10.0.1.20/24\n');
    expect(read('resolv.conf')).toBe('nameserver 10.0.1.1\n');
    expect(JSON.parse(read('join.json'))).toMatchObject({ token: 'abcdef.0123456789abcdef', name: 'dev-w-48hvs', address: '10.0.1.20' });
  });

  it('has its first files where a kernel looks for them, each on a boundary of four bytes', () => {
    const archive = cpio([directory('bin'), file('init', 'abc', { runs: true })]);
    expect(archive.length % 4).toBe(0);
    const names = [...archive.toString('latin1').matchAll(/070701[0-9a-f]{104}([^\0]+)\0/g)];
    expect(names.map(([, name]) => name)).toEqual(['bin', 'init', 'TRAILER!!!']);
    expect(names.every(({ index }) => index % 4 === 0)).toBe(true);
    expect(archive.toString('latin1')).toContain('init\0\0abc\0');
  });
});

describe('librariesIn', () => {
  it('finds what ldd names by a path, the loader too', () => {
    const text =
      '\tlinux-vdso.so.1 (0x00007f)\n\tlibdl.so.2 => /lib/x/libdl.so.2 (0x00007f)\n\tgone.so => not found\n\t/lib64/ld.so.2 (0x00007f)\n';
    expect(librariesIn(text)).toEqual(['/lib/x/libdl.so.2', '/lib64/ld.so.2']);
  });
});
