import { chmod, copyFile, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runCommand } from '../../../../lib/run-command.ts';
import { copyProgram } from './copy-program.ts';
import { cpio, directory, file, type CpioEntry } from './cpio.ts';
import { AGENT, FIRST_INIT, INITTAB, START } from './guest-scripts.ts';
import { copyInterpreters, findInterpreters, interpreterFiles, type Interpreters } from './interpreters.ts';
import { BOOT_MODULES, loadOrder, POD_MODULES } from './kernel-modules.ts';
import { writePlainKernel } from './plain-kernel.ts';
import { copyProduct, productFiles } from './product-files.ts';
import { editionOf, findKernel, findProgram, type GuestKernel } from './system-files.ts';

export interface WorkerImageOptions {
  /** Images are kept below it, one folder for each edition. */
  root: string;
  /** The folder with dist/, node_modules/ and package.json. */
  product: string;
  /** The Node that workers run: this one. */
  node: string;
  /** Of guests; absent: what the distribution has installed. */
  kernel?: string;
}

/** What all workers share and none can write to. */
export interface WorkerImage {
  /** Tells it from other editions. */
  key: string;
  /** The tree of files, for who needs no disk. */
  tree: string;
  /** The same as a disk. */
  disk: string;
  initramfs: string;
  /** Absent: no kernel for guests was found. */
  kernel?: GuestKernel;
}

/** Programs of the machine that a worker's agent uses when they are there. */
const TOOLS = ['nsenter', 'setpriv', 'setsid', 'ip', 'nft', 'bwrap'];
/** The first that is there: crun is a smaller program than runc, and all of it has to be read and emulated. */
const RUNTIMES = ['crun', 'runc'];
const FOLDERS = ['bin', 'dev', 'etc', 'image', 'lib', 'opt', 'proc', 'root', 'run', 'sbin', 'sys', 'tmp', 'usr/bin', 'usr/sbin', 'var'];
/** Of the world, one in each file, found by the hash of its name. */
const AUTHORITIES = '/etc/ssl/certs';
const notBundled = (path: string) => !path.endsWith('.crt') && !path.endsWith('java');
/** What is made anew in each worker is outside of what it cannot write to; `env` is where scripts look for it. */
const LINKS = { 'etc/hosts': '/run/hosts', 'etc/resolv.conf': '/run/resolv.conf', 'usr/bin/env': '../../bin/busybox' };

/** Images for workers, made of what is installed here the first time one is wanted, and whenever that has changed. */
export class WorkerImages {
  readonly #options: WorkerImageOptions;
  #image: Promise<WorkerImage> | undefined;

  constructor(options: WorkerImageOptions) {
    this.#options = { ...options, root: resolve(options.root) };
  }

  get root(): string {
    return this.#options.root;
  }

  /** What is not installed that images are made of, as an operator would install it; undefined: nothing. */
  async missing(): Promise<string | undefined> {
    if ((await findProgram('busybox')) === undefined) return 'busybox is not installed (on Debian: busybox-static)';
    if ((await findProgram('mke2fs')) === undefined) return 'mke2fs is not installed (on Debian: e2fsprogs)';
    if ((await findProgram('ldd')) === undefined) return 'ldd is not installed (on Debian: libc-bin)';
    return undefined;
  }

  get(): Promise<WorkerImage> {
    return (this.#image ??= this.#make().catch((error: unknown) => {
      this.#image = undefined;
      throw error;
    }));
  }

  /** Removes editions that no machine was started with. */
  async removeOthers(used: ReadonlySet<string>): Promise<void> {
    const current = await this.#image?.catch(() => undefined);
    for (const name of await readdir(this.root).catch(() => [])) {
      if (name !== current?.key && !used.has(name)) await rm(join(this.root, name), { recursive: true, force: true });
    }
  }

  async #make(): Promise<WorkerImage> {
    const { product, node } = this.#options;
    const [kernel, busybox] = await Promise.all([findKernel(this.#options.kernel), findProgram('busybox')]);
    const runtimes = (await Promise.all(RUNTIMES.map(findProgram))).filter((path) => path !== undefined);
    const tools = [...(await Promise.all(TOOLS.map(findProgram))).filter((path) => path !== undefined), ...runtimes.slice(0, 1)];
    const interpreters = await findInterpreters();
    const system = [busybox!, ...tools, ...interpreterFiles(interpreters), ...(kernel === undefined ? [] : [kernel.path])];
    const sources = [node, ...system, ...(await productFiles(product))];
    const key = `${kernel?.release ?? 'no-kernel'}-${await editionOf(sources)}`;
    const folder = join(this.root, key);
    const image: WorkerImage = {
      key,
      tree: join(folder, 'tree'),
      disk: join(folder, 'disk'),
      initramfs: join(folder, 'initramfs'),
      ...(kernel === undefined ? {} : { kernel: { ...kernel, path: join(folder, 'kernel') } }),
    };
    if ((await lstat(folder).catch(() => undefined))?.isDirectory()) return image;
    // Whole or not there: a crash leaves a folder that nobody takes for an image.
    const draft = join(this.root, `draft-${process.pid}`);
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { recursive: true, mode: 0o755 });
    await build({ draft, product, node, busybox: busybox!, tools, interpreters, kernel });
    await rename(draft, folder);
    return image;
  }
}

interface Build {
  draft: string;
  product: string;
  node: string;
  busybox: string;
  tools: readonly string[];
  interpreters: Interpreters;
  kernel: GuestKernel | undefined;
}

async function build({ draft, product, node, busybox, tools, interpreters, kernel }: Build): Promise<void> {
  const tree = join(draft, 'tree');
  for (const folder of FOLDERS) await mkdir(join(tree, folder), { recursive: true, mode: 0o755 });
  await copyProgram(node, join(tree, 'usr/bin/node'), tree);
  for (const tool of tools) await copyProgram(tool, join(tree, 'usr/sbin', tool.slice(tool.lastIndexOf('/') + 1)), tree);
  await copyFile(busybox, join(tree, 'bin/busybox'));
  const applets = (await runCommand(busybox, ['--list'])).split('\n').filter((name) => name !== '' && name !== 'busybox');
  for (const name of applets) await symlink('busybox', join(tree, 'bin', name));
  await copyInterpreters(interpreters, tree);
  await copyProduct(product, join(tree, 'opt/tenantry'));
  for (const [place, target] of Object.entries(LINKS)) await symlink(target, join(tree, place));
  await writeFile(join(tree, 'etc/inittab'), INITTAB);
  await writeFile(join(tree, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n');
  await writeFile(join(tree, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
  for (const [name, text] of Object.entries({ start: START, agent: AGENT })) {
    await writeFile(join(tree, 'etc', name), text);
    await chmod(join(tree, 'etc', name), 0o755);
  }
  await cp(AUTHORITIES, join(tree, AUTHORITIES), { recursive: true, dereference: true, filter: notBundled }).catch(() => {});
  if (kernel !== undefined) await copyModules(kernel, POD_MODULES, join(tree, 'lib/modules', kernel.release));
  await writeFile(join(draft, 'initramfs'), cpio(await initramfs(busybox, kernel)));
  if (kernel !== undefined && !(await writePlainKernel(kernel.path, join(draft, 'kernel')))) {
    await copyFile(kernel.path, join(draft, 'kernel'));
  }
  await makeDisk(tree, join(draft, 'disk'));
}

async function initramfs(busybox: string, kernel: GuestKernel | undefined): Promise<CpioEntry[]> {
  const entries = ['bin', 'dev', 'image', 'modules', 'proc', 'sys'].map(directory);
  entries.push(file('bin/busybox', await readFile(busybox), { runs: true }), file('init', FIRST_INIT, { runs: true }));
  if (kernel === undefined) return entries;
  const folder = `modules/${kernel.release}`;
  const modules = await readModules(kernel, BOOT_MODULES);
  entries.push(directory(folder), file(`${folder}/order`, modules.map(({ name }) => `${name}\n`).join('')));
  for (const { name, content } of modules) entries.push(file(`${folder}/${name}`, content));
  return entries;
}

async function copyModules(kernel: GuestKernel, wanted: readonly string[], to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o755 });
  const modules = await readModules(kernel, wanted);
  for (const { name, content } of modules) await writeFile(join(to, name), content);
  await writeFile(join(to, 'order'), modules.map(({ name }) => `${name}\n`).join(''));
}

const UNPACKERS: Record<string, string> = { '.xz': 'xz', '.zst': 'zstd', '.gz': 'gzip' };

async function readModules(kernel: GuestKernel, wanted: readonly string[]): Promise<{ name: string; content: Buffer }[]> {
  const order = loadOrder(await readFile(join(kernel.modules, 'modules.dep'), 'utf8'), wanted);
  return Promise.all(
    order.map(async (relative) => {
      const path = join(kernel.modules, relative);
      const name = relative.slice(relative.lastIndexOf('/') + 1);
      const unpacker = UNPACKERS[/\.(?:xz|zst|gz)$/.exec(name)?.[0] ?? ''];
      if (unpacker === undefined) return { name, content: await readFile(path) };
      return { name: name.slice(0, name.lastIndexOf('.')), content: await unpacked(unpacker, path) };
    }),
  );
}

async function unpacked(program: string, path: string): Promise<Buffer> {
  const { execFile } = await import('node:child_process');
  return new Promise((done, reject) => {
    execFile(program, ['-dc', path], { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 }, (error, stdout) =>
      error === null ? done(stdout) : reject(error),
    );
  });
}

const MIB = 1024 * 1024;

/** A file system made of a folder, without mounting anything. Nobody writes to it, so it has no journal and no room to spare. */
async function makeDisk(tree: string, path: string): Promise<void> {
  const used = Number.parseInt(await runCommand('du', ['-sk', '--apparent-size', tree]), 10) * 1024;
  const size = Math.ceil((used * 1.15 + 32 * MIB) / MIB);
  const args = ['-q', '-t', 'ext4', '-O', '^has_journal,^resize_inode', '-m', '0', '-E', 'root_owner=0:0', '-d', tree, path, `${size}M`];
  await runCommand('mke2fs', args);
}
