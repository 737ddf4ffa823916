import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What this machine offers to contain a process. */
export interface SandboxTools {
  isRoot: boolean;
  /** Present only when it works here. */
  bwrap?: string;
  nsenter?: string;
  setpriv?: string;
  setsid?: string;
  /** Why there is no sandbox. */
  noSandbox?: string;
}

const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const PROBE_MS = 5000;

/** Looks once, at the start of the agent. A tool that is there but does not work (no user namespaces, a nested container) is not used. */
export async function probeSandboxTools(): Promise<SandboxTools> {
  const isRoot = process.getuid?.() === 0;
  const [bwrap, nsenter, setpriv, setsid] = await Promise.all(['bwrap', 'nsenter', 'setpriv', 'setsid'].map(find));
  const tools = { isRoot, nsenter, setpriv, setsid };
  if (bwrap === undefined) return { ...tools, noSandbox: 'bubblewrap is not installed' };
  if (isRoot && setpriv === undefined) return { ...tools, noSandbox: 'setpriv (util-linux) is not installed' };
  const problem = await tryOut(bwrap, isRoot);
  return problem === undefined ? { ...tools, bwrap } : { ...tools, noSandbox: `bubblewrap does not work here: ${problem}` };
}

/** Everything that a sandbox of ours uses and a machine may forbid. */
async function tryOut(bwrap: string, isRoot: boolean): Promise<string | undefined> {
  const namespaces = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', ...(isRoot ? [] : ['--unshare-user'])];
  try {
    await promisify(execFile)(bwrap, [...namespaces, '--ro-bind', '/', '/', '--proc', '/proc', '--', '/bin/sh', '-c', ':'], {
      timeout: PROBE_MS,
      env: {},
    });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return (stderr?.trim() || message).split('\n')[0];
  }
}

async function find(name: string): Promise<string | undefined> {
  for (const folder of FOLDERS) {
    const path = join(folder, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}
