import { readFile, realpath, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { FILES, type Backend, type Boot, type Command } from '../host/backend.ts';
import { enclosed } from '../host/enclosed.ts';
import { findProgram } from '../image/system-files.ts';
import { qemuArguments, type Accelerator } from './qemu-arguments.ts';
import { qemuFiles } from './qemu-files.ts';

const PROGRAM = 'qemu-system-x86_64';
/** A guest that would take longer with hardware behind it is not run by hardware. */
const PROBE_MS: Record<Accelerator, number> = { kvm: 10_000, tcg: 60_000 };
const DEVICE = '/dev/kvm';

/** Nothing of a guest is there: its memory is the program's own. */
const SHARED_MEMORY_BYTES = 1024 * 1024;

/**
 * QEMU: with the machine's own virtualisation (`kvm`), or as a program that plays a computer (`tcg`). What a guest may break into has nothing around
 * it, and asks the kernel for little.
 */
export function qemuBackend(accelerator: Accelerator): Backend {
  return {
    provider: accelerator,
    isolation: 'Kernel',
    attachment: 'Tap',
    probeMs: PROBE_MS[accelerator],
    consoleSocket: FILES.console,
    programs: async () => [(await findProgram(PROGRAM))!, (await findProgram('bwrap'))!],
    async missing(image) {
      if ((await findProgram(PROGRAM)) === undefined) return `${PROGRAM} is not installed (on Debian: qemu-system-x86)`;
      if ((await findProgram('bwrap')) === undefined) return 'bwrap is not installed (on Debian: bubblewrap)';
      if (image.kernel === undefined) return 'there is no kernel for guests in /boot (on Debian: linux-image-cloud-amd64)';
      return accelerator === 'kvm' ? whyNoHardware() : undefined;
    },
    command: (boot) => qemuCommand(accelerator, boot),
  };
}

async function qemuCommand(accelerator: Accelerator, boot: Boot): Promise<Command> {
  const [found, bwrap, setpriv] = await Promise.all([PROGRAM, 'bwrap', 'setpriv'].map(findProgram));
  const program = await realpath(found!);
  const { kernel, initramfs, disk } = boot.image;
  const shared = [kernel!.path, initramfs, disk];
  const [kernelPath, initramfsPath, image] = shared.map((path) => relative(boot.folder, path));
  const isReal = accelerator === 'kvm';
  return enclosed(boot, {
    bwrap: bwrap!,
    setpriv: setpriv!,
    system: await qemuFiles(program),
    shared,
    devices: isReal ? [DEVICE] : [],
    group: isReal ? await deviceGroup() : undefined,
    memoryBytes: SHARED_MEMORY_BYTES,
    command: [program, ...qemuArguments(accelerator, { kernel: kernelPath, initramfs: initramfsPath, image }, boot.wanted)],
  });
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
