import { existsSync, realpathSync } from 'node:fs';
import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

interface Package {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** Where the build puts what is made for workers. */
const WHOLE = 'worker-image';

/** Copies the product into a worker: its programs and the packages that they use, without what is only for developers. */
export async function copyProduct(from: string, to: string): Promise<void> {
  await mkdir(join(to, 'node_modules'), { recursive: true });
  await cp(join(from, 'package.json'), join(to, 'package.json'));
  await copyTree(join(from, 'dist'), join(to, 'dist'));
  // The same programs, in one file each.
  await cp(join(from, 'dist', WHOLE), join(to, 'dist'), { recursive: true }).catch(unlessMissing);
  for (const [name, folder] of await packagesOf(from)) await copyTree(folder, join(to, 'node_modules', name));
}

/** All files of the product that decide whether an image is up to date. */
export async function productFiles(product: string): Promise<string[]> {
  const entries = await readdir(join(product, 'dist'), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.map'))
    .map((entry) => join(entry.parentPath, entry.name));
  return [join(product, 'package.json'), ...files.toSorted()];
}

/** The packages that the product names, and those that these name: name to folder. */
export async function packagesOf(product: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const add = async (folder: string): Promise<void> => {
    const { dependencies, optionalDependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Package;
    // What is optional for the product is for other places than workers; what is for a package is its part for this kind of machine.
    const optional = folder === product ? {} : optionalDependencies;
    for (const name of Object.keys({ ...dependencies, ...optional })) {
      const place = packageFolder(name, folder);
      if (place === undefined || found.has(name)) continue;
      found.set(name, place);
      await add(place);
    }
  };
  await add(product);
  return found;
}

/** As Node looks for it. What was left out for this machine is not there. */
function packageFolder(name: string, from: string): string | undefined {
  for (let folder = realpathSync(from); ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name);
    if (existsSync(join(place, 'package.json'))) return place;
    if (folder === dirname(folder)) return undefined;
  }
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

const LEFT_OUT = /\.(map|md|ts|c|cc|h|o|pdb)$/;

async function copyTree(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, dereference: true, filter: (path) => !LEFT_OUT.test(basename(path)) });
}
