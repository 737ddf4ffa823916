import { chmod, constants, copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sharedLibraries } from './system-files.ts';

/** With the libraries that it is loaded with, where it looks for them. */
export async function copyProgram(from: string, to: string, tree: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o755);
  await copyLibraries([from], tree);
}

/** What these files are loaded with. */
export async function copyLibraries(files: readonly string[], tree: string): Promise<void> {
  for (const library of await sharedLibraries(...files)) {
    const place = join(tree, library);
    await mkdir(dirname(place), { recursive: true, mode: 0o755 });
    await copyFile(library, place, constants.COPYFILE_FICLONE);
  }
}
