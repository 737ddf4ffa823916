import { relative } from 'node:path';
import { FILES, type Backend, type Boot, type Command } from '../host/backend.ts';
import { enclosed } from '../host/enclosed.ts';
import { findProgram } from '../image/system-files.ts';

const PROGRAM = 'linux.uml';
const MIB = 1024 * 1024;
const PROBE_MIB = 128;
/** Beside the guest's memory, in the file that it is. */
const SLACK_BYTES = 64 * MIB;

const CONSTANT = ['con=null', 'con0=null,fd:1', 'ssl=null', 'uml_dir=.', 'umid=uml', 'quiet', 'panic=-1', 'tenantry.disk=ubd'];

/**
 * User-mode Linux: a kernel that is a program. It has one processor, and no need of hardware. Root in the guest may read what the program may
 * (`mount -t hostfs`), and has as many processes on the host as in the guest, so that it is enclosed.
 */
export function umlBackend(): Backend {
  return {
    provider: 'uml',
    isolation: 'Kernel',
    attachment: 'Tap',
    probeMs: 30_000,
    programs: async () => [(await findProgram(PROGRAM))!, (await findProgram('bwrap'))!],
    async missing() {
      if ((await findProgram(PROGRAM)) === undefined) return `${PROGRAM} is not installed (on Debian: user-mode-linux)`;
      if ((await findProgram('bwrap')) === undefined) return 'bwrap is not installed (on Debian: bubblewrap)';
      return undefined;
    },
    command: umlCommand,
  };
}

async function umlCommand(boot: Boot): Promise<Command> {
  const [program, bwrap, setpriv] = await Promise.all([PROGRAM, 'bwrap', 'setpriv'].map(findProgram));
  return enclosed(boot, {
    bwrap: bwrap!,
    setpriv: setpriv!,
    shared: [boot.image.initramfs, boot.image.disk],
    memoryBytes: memoryMib(boot) * MIB + SLACK_BYTES,
    command: [program!, ...umlArguments(boot)],
  });
}

export function umlArguments({ folder, image, wanted }: Pick<Boot, 'folder' | 'image' | 'wanted'>): string[] {
  return [
    `mem=${memoryMib({ wanted })}M`,
    `initrd=${relative(folder, image.initramfs)}`,
    // A letter before the path says how it is opened: to be read, and by many.
    `ubd0r=${relative(folder, image.disk)}`,
    ...(wanted === undefined ? [] : own(wanted)),
    ...CONSTANT,
    ...(wanted === undefined ? ['tenantry.probe'] : []),
  ];
}

function memoryMib({ wanted }: Pick<Boot, 'wanted'>): number {
  return wanted === undefined ? PROBE_MIB : Math.floor(wanted.memoryBytes / MIB);
}

function own({ network: { device, mac } }: NonNullable<Boot['wanted']>): string[] {
  return [`ubd1=${FILES.disk}`, `ubd2r=${FILES.settings}`, `vec0:transport=tap,ifname=${device.name},depth=64,mac=${mac}`];
}
