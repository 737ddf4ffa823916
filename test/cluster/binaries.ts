import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** The version in go.mod, without its `v`. */
export const KUBERNETES_VERSION = '1.35.4';

/** What a whole control plane consists of. */
const CONTROL_PLANE = ['etcd', 'etcdutl', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'proxy-server'] as const;

export type Binary = (typeof CONTROL_PLANE)[number] | 'kubectl' | 'e2e.test';

const PACKAGES: Record<Binary, string> = {
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  etcd: './etcd',
  'e2e.test': 'k8s.io/kubernetes/test/e2e',
  etcdutl: 'go.etcd.io/etcd/etcdutl/v3',
  'proxy-server': 'sigs.k8s.io/apiserver-network-proxy/cmd/server',
};

/** The Go module that pins what is built. Tests run from the root of the checkout. */
export const MODULE_FOLDER = join(process.cwd(), 'test/cluster/kubernetes');
/** A Kubernetes to build: its version, and the Go module that pins it. */
export interface Release {
  version: string;
  module: string;
}
const RELEASE: Release = { version: KUBERNETES_VERSION, module: MODULE_FOLDER };

/** Pinned apart, with the same versions of what both need: a change of it builds nothing of Kubernetes again. */
const OTHER_MODULES: Partial<Record<Binary, string>> = {
  etcdutl: join(process.cwd(), 'test/cluster/control-plane-programs'),
  'proxy-server': join(process.cwd(), 'test/cluster/control-plane-programs'),
};

/** Binaries take minutes to build and never differ for the same pins, so they outlive the checkout. */
export function cacheFolder(version = KUBERNETES_VERSION): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'tenantry', `kubernetes-${version}`, 'bin');
}

/** The path of a real Kubernetes binary, built on first use. The stamp beside it says which go.mod and go.sum it was built from. */
export async function binary(
  name: Binary,
  report: (line: string) => void = console.error,
  { version, module: pinned }: Release = RELEASE,
): Promise<string> {
  const folder = cacheFolder(version);
  const path = join(folder, name);
  const stamp = join(folder, `${name}.pins`);
  const module = OTHER_MODULES[name] ?? pinned;
  const pins = pinsHash(module);
  if (existsSync(path) && existsSync(stamp) && readFileSync(stamp, 'utf8') === pins) return path;
  mkdirSync(folder, { recursive: true });
  report(`Building ${name} ${version} into ${folder}; the first time takes minutes.`);
  await run('go', buildArguments(name, version, path), module);
  writeFileSync(stamp, pins);
  return path;
}

/** A folder with all programs of a control plane, which users without rights can run too. Whoever asked removes it. */
export async function controlPlanePrograms(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-programs-'));
  chmodSync(folder, 0o755);
  for (const name of CONTROL_PLANE) copyFileSync(await binary(name), join(folder, name));
  return folder;
}

function pinsHash(module: string): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(module, file)));
  return hash.digest('hex');
}

function buildArguments(name: Binary, version: string, output: string): string[] {
  if (name === 'e2e.test') return ['test', '-c', '-ldflags', '-s -w', '-o', output, PACKAGES[name]];
  const [major, minor] = version.split('.');
  // Without these the server calls itself v0.0.0, and clients that look at the version misbehave.
  const variables = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor };
  const flags = Object.entries(variables).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`);
  return ['build', '-ldflags', ['-s', '-w', ...flags].join(' '), '-o', output, PACKAGES[name]];
}

async function run(command: string, args: string[], cwd: string): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4000)));
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`Cannot run "${command} ${args.join(' ')}": exit code ${code}; it said: ${errors}`));
    });
  });
}
