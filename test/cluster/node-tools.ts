import { spawn } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export type NodeTool =
  | 'runc'
  | 'crun'
  | 'bwrap'
  | 'nft'
  | 'ip'
  | 'conntrack'
  | 'busybox'
  | 'git'
  | 'python3'
  | 'java'
  | 'mvn'
  | 'ethtool'
  | 'ovn-northd'
  | 'ovn-controller'
  | 'ovs-vswitchd'
  | 'qemu-system-x86_64'
  | 'linux.uml';

/** The Debian package that brings each program. busybox has to be the static one: it is all there is in the test images. */
const PACKAGES: Record<NodeTool, string> = {
  runc: 'runc',
  crun: 'crun',
  bwrap: 'bubblewrap',
  nft: 'nftables',
  ip: 'iproute2',
  conntrack: 'conntrack',
  busybox: 'busybox-static',
  git: 'git',
  python3: 'python3-minimal',
  ethtool: 'ethtool',
  'ovn-northd': 'ovn-central',
  'ovn-controller': 'ovn-host',
  'ovs-vswitchd': 'openvswitch-switch',
  java: 'default-jre-headless',
  mvn: 'maven',
  'qemu-system-x86_64': 'qemu-system-x86',
  'linux.uml': 'user-mode-linux',
};

/** Folders that a plain user's PATH may lack. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin', '/bin'];

/** Makes sure that these programs are here, installing what is missing. What cannot be had fails the test that asked for it. */
export async function nodeTools(...tools: NodeTool[]): Promise<void> {
  const missing = tools.filter((tool) => !pathOf(tool));
  if (missing.length > 0) {
    if (process.getuid?.() !== 0) throw new Error(`Cannot install "${missing.join(' ')}": not root; run the cluster tests as root.`);
    await aptGet('update');
    await aptGet('install', '-y', '--no-install-recommends', ...missing.map((tool) => PACKAGES[tool]));
  }
  for (const tool of tools)
    if (!pathOf(tool)) throw new Error(`Cannot find "${tool}": it is not there even after installing ${PACKAGES[tool]}.`);
}

/** A kernel for guests, with its modules beside it. */
export async function guestKernel(): Promise<void> {
  const isThere = () => readdirSync('/boot').some((name) => /^vmlinuz-.*cloud/.test(name));
  if (isThere()) return;
  await aptGet('update');
  await aptGet('install', '-y', '--no-install-recommends', 'linux-image-cloud-amd64');
  if (!isThere()) throw new Error('Cannot find a kernel for guests: it is not in /boot even after installing linux-image-cloud-amd64.');
}

/** The absolute path of a program that `nodeTools` made sure of. */
export function toolPath(tool: NodeTool): string {
  const path = pathOf(tool);
  if (!path) throw new Error(`Cannot find "${tool}": not in the PATH; call nodeTools first.`);
  return path;
}

function pathOf(tool: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, tool)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function aptGet(...args: string[]): Promise<void> {
  const child = spawn('apt-get', args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4000)));
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`Cannot run "apt-get ${args.join(' ')}": exit code ${code}; it said: ${errors}`));
    });
  });
}
