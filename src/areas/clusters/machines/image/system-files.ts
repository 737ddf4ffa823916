import { createHash } from 'node:crypto';
import { access, constants, readdir, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { ENVIRONMENT } from '../../../../lib/run-command.ts';

const PROGRAM_FOLDERS = ENVIRONMENT.PATH.split(delimiter).filter((folder) => isAbsolute(folder));

/** Where a program of the machine is; it may be given by its path. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const path of name.includes('/') ? [name] : PROGRAM_FOLDERS.map((folder) => join(folder, name))) {
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return path;
  }
  return undefined;
}

export interface GuestKernel {
  /** The compressed kernel. */
  path: string;
  release: string;
  /** The folder of its modules. */
  modules: string;
}

/** The newest kernel for virtual machines that the distribution has installed, else the newest of any kind that has its modules beside it. */
export async function findKernel(given?: string): Promise<GuestKernel | undefined> {
  const paths = given === undefined ? (await readdir('/boot').catch(() => [])).map((name) => join('/boot', name)) : [given];
  const kernels: GuestKernel[] = [];
  for (const path of paths) {
    const release = /\/vmlinuz-([^/]+)$/.exec(path)?.[1];
    if (release === undefined) continue;
    const modules = join('/lib/modules', release);
    if ((await stat(join(modules, 'modules.dep')).catch(() => undefined))?.isFile()) kernels.push({ path, release, modules });
  }
  const rank = ({ release }: GuestKernel) => (release.includes('cloud') ? 1 : 0);
  const byAge = (a: GuestKernel, b: GuestKernel) => a.release.localeCompare(b.release, 'en', { numeric: true });
  return kernels.toSorted((a, b) => rank(a) - rank(b) || byAge(a, b)).at(-1);
}

/** The libraries that programs are loaded with, their loader among them. */
export async function sharedLibraries(...programs: readonly string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ldd', programs).catch((error: Error & { stdout?: string }) => {
    // One that needs none is not an error.
    if (/not a dynamic executable|statically linked/.test(`${error.stdout}${error.message}`)) return { stdout: error.stdout ?? '' };
    throw error;
  });
  return librariesIn(stdout);
}

export function librariesIn(ldd: string): string[] {
  return [...new Set([...ldd.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path]) => path))];
}

/** Tells two editions of the same files apart, without reading them. */
export async function editionOf(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) {
    const { size, mtimeMs } = await stat(path);
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}
