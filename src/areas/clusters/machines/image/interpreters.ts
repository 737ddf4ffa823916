import { cp, mkdir, readdir, realpath, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runCommand } from '../../../../lib/run-command.ts';
import { copyLibraries, copyProgram } from './copy-program.ts';
import { findProgram } from './system-files.ts';

/** What Runs are written in, besides Node. Those of the distribution: others that come first on somebody's path lead to places of his. */
const PLACES = { bash: ['/usr/bin/bash', '/bin/bash'], python: ['/usr/bin/python3', '/usr/local/bin/python3'] };

export interface Interpreters {
  bash?: string;
  python?: {
    /** As it is called. */
    program: string;
    /** The folder of its library. */
    library: string;
  };
}

/** Those that are installed here: Runtimes for others say in a worker that there is none. */
export async function findInterpreters(): Promise<Interpreters> {
  const [bash, program] = await Promise.all([firstOf(PLACES.bash), firstOf(PLACES.python)]);
  const library = program === undefined ? undefined : await libraryOf(program);
  return { bash, ...(program === undefined || library === undefined ? {} : { python: { program, library } }) };
}

/** The files that tell one edition from another. */
export function interpreterFiles({ bash, python }: Interpreters): string[] {
  return [...(bash === undefined ? [] : [bash]), ...(python === undefined ? [] : [python.program, join(python.library, 'os.py')])];
}

export async function copyInterpreters({ bash, python }: Interpreters, tree: string): Promise<void> {
  if (bash !== undefined) {
    await copyProgram(bash, join(tree, 'usr/bin/bash'), tree);
    await symlink('../usr/bin/bash', join(tree, 'bin/bash'));
  }
  if (python !== undefined) await copyPython(python, tree);
}

/** Where it is here, because from where it is it finds its library. */
async function copyPython({ program, library }: NonNullable<Interpreters['python']>, tree: string): Promise<void> {
  const real = await realpath(program);
  await mkdir(join(tree, dirname(real)), { recursive: true, mode: 0o755 });
  await copyProgram(real, join(tree, real), tree);
  if (real !== program) {
    await mkdir(join(tree, dirname(program)), { recursive: true, mode: 0o755 });
    await symlink(real, join(tree, program));
  }
  // What is compiled already is used only while its source is as old as it says, and in a worker nobody can write it anew.
  await cp(library, join(tree, library), { recursive: true, dereference: true, preserveTimestamps: true, filter: isForRuns(library) });
  const native = join(library, 'lib-dynload');
  const modules = (await readdir(native).catch(() => [])).filter((name) => name.endsWith('.so'));
  await copyLibraries(
    modules.map((name) => join(native, name)),
    tree,
  );
}

/** What nobody needs who only runs programs: parts for building, windows and tests, and what others have installed. */
const LEFT_OUT = /^(config-.*|dist-packages|site-packages|test|tests|idlelib|lib2to3|tkinter|turtledemo|ensurepip|pydoc_data)$/;

export function isForRuns(library: string): (path: string) => boolean {
  return (path) => path === library || !LEFT_OUT.test(basename(path));
}

async function libraryOf(program: string): Promise<string | undefined> {
  try {
    return (await runCommand(program, ['-I', '-c', 'import os; print(os.path.dirname(os.__file__))'])).trim();
  } catch {
    // One that does not run here does not run there.
    return undefined;
  }
}

async function firstOf(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if ((await findProgram(path)) !== undefined) return path;
  return undefined;
}
