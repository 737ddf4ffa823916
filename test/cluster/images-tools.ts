import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

/** The programs of others that images are compared with: a registry, and tools that make and unpack images. */
const PACKAGES = ['docker-registry', 'skopeo', 'umoci', 'attr'];
/** Of the password `secret`, for the user `me`. */
const HTPASSWD = 'me:$2b$05$t4IRQje3EyrfPnTDhOTIPeuVgO45u1j2kqTWlW/SpAKyHns/c1MWO\n';

export function imageTools(): void {
  const missing = PACKAGES.filter((name) => spawnSync('dpkg', ['-s', name]).status !== 0);
  if (missing.length === 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  run('apt-get', ['update'], { env });
  run('apt-get', ['install', '-y', '--no-install-recommends', ...missing], { env });
}

/** Runs a program to its end; a failure is an error with what it said. */
export function run(command: string, args: string[], options: { env?: NodeJS.ProcessEnv; input?: string } = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1e9, ...options });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed with ${status}: ${stderr}`);
  return stdout;
}

export interface RealRegistry {
  /** `127.0.0.1:<port>`. */
  host: string;
  stop(): Promise<void>;
}

/** Debian's docker-registry on loopback, its data in a folder. */
export async function startRealRegistry(folder: string, options: { login: boolean }): Promise<RealRegistry> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const auth = options.login ? { auth: { htpasswd: { realm: 'test', path: join(folder, 'htpasswd') } } } : {};
  writeFileSync(join(folder, 'htpasswd'), HTPASSWD);
  const config = {
    version: 0.1,
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') } },
    http: { addr: `127.0.0.1:${port}`, secret: 'test' },
    ...auth,
  };
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(config));
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' });
  const host = `127.0.0.1:${port}`;
  await untilItAnswers(child, host);
  return { host, stop: () => end(child) };
}

async function untilItAnswers(child: ChildProcess, host: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if (child.exitCode !== null) throw new Error(`docker-registry ended with ${child.exitCode}`);
    const answer = await fetch(`http://${host}/v2/`).catch(() => undefined);
    if (answer !== undefined) return;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
  throw new Error('docker-registry does not answer');
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.kill('SIGTERM');
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
