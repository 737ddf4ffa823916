import { existsSync, readFileSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SealError } from '../engine/store/sealer.ts';
import { StoreError } from '../engine/store/store.ts';
import { kubeconfigPath } from './data-directory.ts';

/** @throws Error that says why the directory cannot hold an instance */
export async function prepareDataDirectory(data: string): Promise<void> {
  try {
    await mkdir(data, { recursive: true, mode: 0o700 });
    await access(data, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`Cannot use the data directory "${data}": ${REASONS[code ?? ''] ?? message}; choose another one with --data`, {
      cause: error,
    });
  }
}

const REASONS: Record<string, string> = {
  EACCES: 'you have no permission',
  EPERM: 'you have no permission',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its disk is full',
  ENOTDIR: 'it is, or is under, a file',
  EEXIST: 'it is a file',
};

/** What the store says about itself, with what only the owner of the whole directory knows: the address, and where keys are kept. */
export function startFailure(error: unknown, data: string): unknown {
  if (error instanceof StoreError && error.code === 'Locked') {
    const server = serverIn(kubeconfigPath(data));
    return server === undefined ? error : new Error(`${error.message}\n(it serves ${server})`, { cause: error });
  }
  if (error instanceof Error && (error instanceof SealError || error.cause instanceof SealError)) {
    const keys = join(data, 'pki', 'encryption.key');
    return new Error(`${error.message}\n(the keys are the lines of ${keys}: put the missing one back, below the others)`, { cause: error });
  }
  return error;
}

function serverIn(kubeconfig: string): string | undefined {
  if (!existsSync(kubeconfig)) return undefined;
  return /"?server"?: "?(https:[^\s",]+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1];
}
