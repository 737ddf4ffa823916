import { describe, expect, it } from 'vitest';
import { aMachine } from '../testing/a-machine.ts';
import { qemuArguments } from './qemu-arguments.ts';

const files = { kernel: '../../images/x/kernel', initramfs: '../../images/x/initramfs', image: '../../images/x/disk' };
const valuesOf = (args: readonly string[], flag: string) => args.flatMap((word, index) => (args[index - 1] === flag ? [word] : []));

describe('qemuArguments', () => {
  const args = qemuArguments('tcg', files, aMachine({ cpus: 3, memoryBytes: 1024 ** 3 + 5 }));

  it('gives a guest three disks in the order in which it looks for them, the shared ones read-only', () => {
    const drives = valuesOf(args, '-drive');
    expect(drives.map((drive) => /file=([^,]+)/.exec(drive)![1])).toEqual([files.image, 'disk', 'settings']);
    expect(drives.map((drive) => drive.includes('readonly=on'))).toEqual([true, false, true]);
  });

  it('gives it the size, the tap and the card that were asked for', () => {
    expect([...valuesOf(args, '-smp'), ...valuesOf(args, '-m')]).toEqual(['3', '1024M']);
    expect(valuesOf(args, '-netdev')).toEqual(['tap,id=net,ifname=tap0,script=no,downscript=no']);
    expect(valuesOf(args, '-device').at(-1)).toContain('mac=02:ca:0a:00:01:14');
  });

  it('says nothing on the command line that is not for everybody', () => {
    expect(args.join(' ')).not.toMatch(/abcdef|10\.0\.1\.20|PEM/);
  });

  it('lets QEMU start no other program and get no rights', () => {
    expect(valuesOf(args, '-sandbox')).toEqual(['on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny']);
  });

  it('only tries the image when there is no machine', () => {
    const probe = qemuArguments('kvm', files, undefined);
    expect(valuesOf(probe, '-drive')).toHaveLength(1);
    expect(probe).not.toContain('-netdev');
    expect(valuesOf(probe, '-append')[0]).toContain('tenantry.probe');
    expect(valuesOf(args, '-append')[0]).not.toContain('tenantry.probe');
  });
});
