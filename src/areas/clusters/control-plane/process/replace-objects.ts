import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { orAborted } from '../../../../lib/abort.ts';
import { ControlPlaneError } from '../control-planes.ts';
import { endProcess } from './end-process.ts';
import { launch, type LaunchMessage, type LaunchOptions } from './launch.ts';

const RESTORE_MS = 600_000;

/**
 * Has the objects of a stopped control plane replaced by those of a backup. Its own program does it, as its own user: we only hand in the
 * file, and put in place the keys that its Secrets were encrypted with, before the old objects go.
 * When the signal fires it is ended where it is: whoever asked does it again from the beginning.
 */
export async function replaceObjects(
  options: Omit<LaunchOptions, 'args' | 'stdin'> & { args?: readonly string[] },
  source: string,
  keepKeys: (encryptionKeys: string) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const launched = await launch({ ...options, args: ['--restore', ...(options.args ?? [])], stdin: 'pipe' });
  // An early end of the process shows in what it says, not here.
  const piped = pipeline(createReadStream(source), launched.child.stdin!).catch(() => {});
  try {
    const restored = await orAborted(launched.next(RESTORE_MS), signal);
    if (restored.type !== 'restored') throw failed(restored);
    await keepKeys(restored.encryptionKeys);
    launched.go();
    const done = await orAborted(launched.next(RESTORE_MS), signal);
    if (done.type !== 'ready') throw failed(done);
  } finally {
    launched.release();
    await endProcess(launched.identity);
    await piped;
  }
}

function failed(said: LaunchMessage): ControlPlaneError {
  const { code, message } = said.type === 'failed' ? said : { code: undefined, message: 'its program said something unexpected' };
  if (code === 'ENOSPC' || code === 'DiskFull')
    return new ControlPlaneError('DiskFull', 'Cannot restore: its disk is full; free some space', { afterMs: 10_000 });
  return new ControlPlaneError('StartFailed', message.startsWith('Cannot ') ? message : `Cannot restore: ${message}`);
}
