import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { RuntimeSettings } from '../areas/runs/controllers/runtime/model/runtime-deployment.ts';
import { findSandboxTools } from '../areas/runs/servers/sandbox/probe-sandbox.ts';
import type { NodeMode } from './node-supervisor.ts';

type Choice = NonNullable<RuntimeSettings['builtInIsolation']>;

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const PROBE_MS = 5000;

/**
 * How Runs of the Runtimes that come with the engine are kept apart: by `process` where the Pods of this machine can make sandboxes. Those
 * of an OCI runtime can, and so can those that run as processes of a plain user. As root without an OCI runtime they cannot: the sandbox
 * around such a Pod hides parts of /proc, and the kernel then lets nobody inside have a /proc of their own.
 */
export async function builtInIsolation(mode: Exclude<NodeMode, 'none'>): Promise<Choice> {
  const reason = await whyNot(mode);
  return reason === undefined ? { isolation: 'process' } : { isolation: 'shared', reason };
}

async function whyNot(mode: Exclude<NodeMode, 'none'>): Promise<string | undefined> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot && (mode === 'process' || !['runc', 'crun'].some(isInstalled))) {
    return 'as root, Pods need an OCI runtime to make sandboxes; install runc or crun';
  }
  const tools = await findSandboxTools(PATH);
  if ('missing' in tools) return tools.missing;
  const namespaces = ['--unshare-pid', '--unshare-net', ...(isRoot ? [] : ['--unshare-user'])];
  try {
    await promisify(execFile)(tools.bwrap, [...namespaces, '--ro-bind', '/', '/', '--proc', '/proc', '--', '/bin/sh', '-c', ':'], {
      timeout: PROBE_MS,
      env: {},
    });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return `bubblewrap does not work here: ${(stderr?.trim() || message).split('\n')[0]}`;
  }
}

function isInstalled(program: string): boolean {
  return PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
