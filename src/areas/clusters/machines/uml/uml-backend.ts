import { relative } from 'node:path';
import { FILES, type Backend, type Boot } from '../host/backend.ts';
import { confined } from '../host/confined.ts';
import { findProgram } from '../image/system-files.ts';

const PROGRAM = 'linux.uml';
const MIB = 1024 * 1024;
const PROBE_MIB = 128;

const CONSTANT = ['con=null', 'con0=null,fd:1', 'ssl=null', 'uml_dir=.', 'umid=uml', 'quiet', 'panic=-1', 'tenantry.disk=ubd'];

/** User-mode Linux: a kernel that is a program. It has one processor, and no need of hardware. */
export function umlBackend(): Backend {
  return {
    provider: 'uml',
    isolation: 'Kernel',
    attachment: 'Tap',
    probeMs: 30_000,
    programs: async () => [(await findProgram(PROGRAM))!],
    async missing() {
      if ((await findProgram(PROGRAM)) === undefined) return `${PROGRAM} is not installed (on Debian: user-mode-linux)`;
      return undefined;
    },
    command: async (boot) => confined(boot, [(await findProgram(PROGRAM))!, ...umlArguments(boot)]),
  };
}

export function umlArguments({ folder, image, wanted }: Pick<Boot, 'folder' | 'image' | 'wanted'>): string[] {
  const memory = wanted === undefined ? PROBE_MIB : Math.floor(wanted.memoryBytes / MIB);
  return [
    `mem=${memory}M`,
    `initrd=${relative(folder, image.initramfs)}`,
    // A letter before the path says how it is opened: to be read, and by many.
    `ubd0r=${relative(folder, image.disk)}`,
    ...(wanted === undefined ? [] : own(wanted)),
    ...CONSTANT,
    ...(wanted === undefined ? ['tenantry.probe'] : []),
  ];
}

function own({ network: { device, mac } }: NonNullable<Boot['wanted']>): string[] {
  return [`ubd1=${FILES.disk}`, `ubd2r=${FILES.settings}`, `vec0:transport=tap,ifname=${device.name},depth=64,mac=${mac}`];
}
