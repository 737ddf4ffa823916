import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The process id that a runtime has written, or undefined when it ended without. Runtimes write it once the process runs. */
export async function writtenPid(file: string, ended: Promise<unknown>): Promise<number | undefined> {
  const watcher = watch(dirname(file));
  try {
    for (;;) {
      const changed = new Promise<'changed'>((resolve) => watcher.once('change', () => resolve('changed')));
      const pid = await readPid(file);
      if (pid !== undefined) return pid;
      const over = ended.then(
        () => 'ended' as const,
        () => 'ended' as const,
      );
      if ((await Promise.race([changed, over])) === 'ended') return await readPid(file);
    }
  } finally {
    watcher.close();
  }
}

export async function readPid(file: string): Promise<number | undefined> {
  const pid = Number(await readFile(file, 'utf8').catch(() => ''));
  return pid > 0 ? pid : undefined;
}
