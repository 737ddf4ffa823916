import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ContainerError } from '../driver.ts';
import type { ToMachine } from './model/visible-paths.ts';

/**
 * Refuses a command that is not there or cannot be executed before anything is made for it: the shell in between could not tell one
 * that is missing from one that ends with 127. The words are those of container runtimes.
 */
export async function checkCommand(command: string, options: { path: string; workingDir: string; toMachine: ToMachine }): Promise<void> {
  const { path, workingDir, toMachine } = options;
  const isPath = command.includes('/');
  const places = isPath
    ? [join(command.startsWith('/') ? '/' : workingDir, command)]
    : path.split(':').map((folder) => join(folder || '.', command));
  let denied = false;
  for (const place of places) {
    const file = toMachine(place);
    const found = file === undefined ? 'absent' : await kindOf(file);
    if (found === 'executable') return;
    denied ||= found === 'denied';
  }
  const cause = denied ? 'permission denied' : isPath ? 'no such file or directory' : 'executable file not found in $PATH';
  throw new ContainerError('StartError', `exec: ${JSON.stringify(command)}: ${cause}`);
}

async function kindOf(file: string): Promise<'executable' | 'denied' | 'absent'> {
  const info = await stat(file).catch(() => undefined);
  if (info === undefined) return 'absent';
  // Root may execute whatever is executable for anybody, but the container is not root.
  if (!info.isFile() || (info.mode & 0o111) === 0) return 'denied';
  return access(file, constants.X_OK).then(
    () => 'executable',
    () => 'denied',
  );
}
