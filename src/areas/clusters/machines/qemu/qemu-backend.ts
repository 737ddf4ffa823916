import { readFile, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { FILES, type Backend } from '../host/backend.ts';
import { confined } from '../host/confined.ts';
import { findProgram } from '../image/system-files.ts';
import { qemuArguments, type Accelerator } from './qemu-arguments.ts';

const PROGRAM = 'qemu-system-x86_64';
/** A guest that would take longer with hardware behind it is not run by hardware. */
const PROBE_MS: Record<Accelerator, number> = { kvm: 10_000, tcg: 60_000 };
const DEVICE = '/dev/kvm';

/** QEMU: with the machine's own virtualisation (`kvm`), or as a program that plays a computer (`tcg`). */
export function qemuBackend(accelerator: Accelerator): Backend {
  return {
    provider: accelerator,
    isolation: 'Kernel',
    attachment: 'Tap',
    probeMs: PROBE_MS[accelerator],
    consoleSocket: FILES.console,
    programs: async () => [(await findProgram(PROGRAM))!],
    async missing(image) {
      if ((await findProgram(PROGRAM)) === undefined) return `${PROGRAM} is not installed (on Debian: qemu-system-x86)`;
      if (image.kernel === undefined) return 'there is no kernel for guests in /boot (on Debian: linux-image-cloud-amd64)';
      return accelerator === 'kvm' ? whyNoHardware() : undefined;
    },
    async command(boot) {
      const groups = accelerator === 'kvm' ? await deviceGroup() : undefined;
      const files = {
        kernel: relative(boot.folder, boot.image.kernel!.path),
        initramfs: relative(boot.folder, boot.image.initramfs),
        image: relative(boot.folder, boot.image.disk),
      };
      return confined(boot, [(await findProgram(PROGRAM))!, ...qemuArguments(accelerator, files, boot.wanted)], groups);
    },
  };
}

/** What shows without a try: behind some devices is no hardware, but a program that no ordinary kernel boots on. */
async function whyNoHardware(): Promise<string | undefined> {
  if ((await deviceGroup()) === undefined) return `this machine has no ${DEVICE}`;
  const hasHardware = /^flags\s*:.*\b(?:vmx|svm)\b/m.test(await readFile('/proc/cpuinfo', 'utf8'));
  return hasHardware ? undefined : `there is no hardware behind ${DEVICE}: the processors of this machine have neither vmx nor svm`;
}

/** Who may open the device, besides root. */
async function deviceGroup(): Promise<number | undefined> {
  return (await stat(DEVICE).catch(() => undefined))?.gid;
}
