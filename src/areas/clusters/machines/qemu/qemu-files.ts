import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { runCommand } from '../../../../lib/run-command.ts';

/** What a computer with our devices starts with, whichever of them an edition of QEMU uses. */
const FIRMWARE = ['bios-256k.bin', 'kvmvapic.bin', 'linuxboot.bin', 'linuxboot_dma.bin', 'pvh.bin'];
/** Distributions make the emulator a part that is loaded when it is asked for. */
const EMULATOR = 'accel-tcg-x86_64.so';
const MODULES = ['lib/x86_64-linux-gnu/qemu', 'lib64/qemu', 'lib/qemu'];

/** What QEMU reads besides what it is loaded from, as far as it is there: firmware, and its emulator. */
export async function qemuFiles(program: string): Promise<string[]> {
  const folders = (await runCommand(program, ['-L', 'help'])).split('\n').filter(Boolean);
  const firmware = await Promise.all(FIRMWARE.map((name) => firstThere(folders.map((folder) => resolve(folder, name)))));
  const emulator = await firstThere(MODULES.map((folder) => join(resolve(dirname(program), '..', folder), EMULATOR)));
  return [...firmware, emulator].filter((path) => path !== undefined);
}

async function firstThere(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
