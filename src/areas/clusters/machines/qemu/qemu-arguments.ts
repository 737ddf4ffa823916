import { FILES } from '../host/backend.ts';
import type { WantedMachine } from '../machines.ts';

export type Accelerator = 'kvm' | 'tcg';

/** Of the image, as paths that the machine's user can open. */
export interface GuestFiles {
  kernel: string;
  initramfs: string;
  image: string;
}

const MIB = 1024 * 1024;
const PROBE_MIB = 256;

/**
 * For guests that an emulator runs nothing is to be won by defending against how processors guess. How fast the emulated one counts is measured
 * while the host does other things too, so that their clocks would be wrong by factors: they have another one.
 */
const KERNEL_FLAGS: Record<Accelerator, string> = {
  kvm: 'quiet panic=-1 random.trust_cpu=on',
  tcg: 'quiet panic=-1 random.trust_cpu=on mitigations=off tsc=unstable clocksource=acpi_pm no_timer_check cryptomgr.notests 8250.nr_uarts=1',
};
const PROCESSOR: Record<Accelerator, string> = {
  // The register that it is about cannot be set where the host is a guest itself.
  kvm: 'host,-arch-capabilities',
  tcg: 'max',
};

/** What QEMU is started with: a computer with three disks, one network card and one serial line, and nothing else. */
export function qemuArguments(accelerator: Accelerator, files: GuestFiles, wanted: WantedMachine | undefined): string[] {
  const probe = wanted === undefined;
  const cpus = wanted?.cpus ?? 1;
  const threads = accelerator === 'tcg' ? 'tcg,thread=multi' : 'kvm';
  const memory = wanted === undefined ? PROBE_MIB : Math.floor(wanted.memoryBytes / MIB);
  return [
    ['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    ['-machine', 'q35,usb=off,smbus=off,sata=off,vmport=off', '-accel', threads, '-cpu', PROCESSOR[accelerator]],
    ['-smp', String(cpus), '-m', `${memory}M`],
    ['-rtc', 'base=utc'],
    ['-chardev', `socket,id=console,path=${FILES.console},server=on,wait=off`, '-serial', 'chardev:console'],
    ['-kernel', files.kernel, '-initrd', files.initramfs],
    ['-append', `console=ttyS0 ${KERNEL_FLAGS[accelerator]} tenantry.disk=vd${probe ? ' tenantry.probe' : ''}`],
    disk('image', files.image, { isShared: true }),
    wanted === undefined ? [] : own(wanted),
  ].flat();
}

function own({ network: { device, mac } }: WantedMachine): string[] {
  return [
    ...disk('own', FILES.disk, { isShared: false }),
    ...disk('settings', FILES.settings, { isShared: true }),
    '-netdev',
    `tap,id=net,ifname=${device.name},script=no,downscript=no`,
    '-device',
    `virtio-net-pci,netdev=net,mac=${mac},romfile=`,
  ];
}

/** In the order in which the guest finds them. What is shared has no lock: many read it at once. */
function disk(id: string, path: string, { isShared }: { isShared: boolean }): string[] {
  const file = isShared ? `file.locking=off,readonly=on` : 'discard=unmap,detect-zeroes=unmap';
  return ['-drive', `if=none,id=${id},format=raw,file=${path},${file}`, '-device', `virtio-blk-pci,drive=${id},romfile=`];
}
