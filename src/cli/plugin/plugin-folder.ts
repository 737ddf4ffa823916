import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { filesOf } from '../../api/adapstory.com/v1/check-manifest.ts';
import type { PluginManifest } from '../../api/adapstory.com/v1/plugin-manifest.ts';
import { MAX_MANIFEST_BYTES, readManifest, type Problem, type ReadManifest } from './manifest-text.ts';

/** A plugin as its author has it: a folder with `plugin.yaml` and the files that it names. */
export interface PluginFolder {
  manifest?: PluginManifest;
  /** By the path that the manifest uses. */
  files: Record<string, string>;
  problems: Problem[];
}

const MANIFEST_FILE = 'plugin.yaml';
const MAX_FILE_BYTES = 256 * 1024;
const MAX_FILES = 200;
/** All of it becomes one object of the API. */
const MAX_TOTAL_BYTES = 1024 * 1024;
const MIGRATION_NAME = /^\d+_[A-Za-z0-9_.-]+\.sql$/;

/** @param path the folder, or its plugin.yaml */
export async function readPluginFolder(path: string): Promise<PluginFolder> {
  const found = await stat(path).catch(() => undefined);
  const file = found?.isDirectory() ? join(path, MANIFEST_FILE) : path;
  const folder = found?.isDirectory() ? path : join(path, '..');
  const shown = relative('.', file) || file;
  const size = (await stat(file).catch(() => undefined))?.size;
  if (size === undefined) {
    throw new Error(`Cannot read "${shown}": there is no such file; \`tenantry plugin init\` makes a plugin to start from`);
  }
  // Not even read when it is too large.
  if (size > MAX_MANIFEST_BYTES) throw new Error(`Cannot read "${shown}": it is larger than ${MAX_MANIFEST_BYTES} bytes`);
  const read = readManifest(await readFile(file, 'utf8'), shown);
  if (!read.manifest) return { files: {}, problems: read.problems };
  const collected = new FileCollector(await realpath(folder), shown, read);
  await collected.add(read.manifest);
  return { manifest: read.manifest, files: collected.files, problems: collected.problems };
}

class FileCollector {
  readonly files: Record<string, string> = {};
  readonly problems: Problem[] = [];
  readonly #folder: string;
  readonly #manifestFile: string;
  readonly #read: ReadManifest;
  #total = 0;

  constructor(folder: string, manifestFile: string, read: ReadManifest) {
    this.#folder = folder;
    this.#manifestFile = manifestFile;
    this.#read = read;
  }

  async add(manifest: PluginManifest): Promise<void> {
    for (const { path, at } of filesOf(manifest)) {
      const text = await this.#file(path, at);
      if (text !== undefined) this.#checkJson(path, text);
    }
    const { migrations } = manifest.spec.database ?? {};
    if (migrations) await this.#addMigrations(migrations);
  }

  async #addMigrations({ path, contract = [] }: { path: string; contract?: string[] }): Promise<void> {
    const at = ['spec', 'database', 'migrations', 'path'];
    const folder = await this.#inside(path, at);
    if (folder === undefined) return;
    const names = await readdir(folder).catch(() => undefined);
    if (names === undefined) return this.#say(at, `"${path}" is no folder`);
    for (const name of names.filter((each) => each.endsWith('.sql')).sort()) {
      if (!MIGRATION_NAME.test(name)) this.#say(at, `"${path}/${name}": expected a name such as 001_first_table.sql`);
      else await this.#file(`${path}/${name}`, at);
    }
    for (const [index, file] of contract.entries()) {
      if (!names.includes(basename(file))) {
        this.#say(['spec', 'database', 'migrations', 'contract', index], `there is no file "${basename(file)}" in ${path}`);
      }
    }
  }

  async #file(path: string, at: (string | number)[]): Promise<string | undefined> {
    if (this.files[path] !== undefined) return this.files[path];
    const real = await this.#inside(path, at);
    if (real === undefined) return undefined;
    const found = await stat(real);
    if (!found.isFile()) return this.#say(at, `"${path}" is no file`);
    this.#total += found.size;
    if (found.size > MAX_FILE_BYTES) return this.#say(at, `"${path}" is larger than ${MAX_FILE_BYTES} bytes`);
    if (this.#total > MAX_TOTAL_BYTES) return this.#say(at, `all files together are larger than ${MAX_TOTAL_BYTES} bytes`);
    if (Object.keys(this.files).length >= MAX_FILES) return this.#say(at, `there are more than ${MAX_FILES} files`);
    return (this.files[path] = await readFile(real, 'utf8'));
  }

  /** The real place of a path; a link that leads out of the folder is not followed. */
  async #inside(path: string, at: (string | number)[]): Promise<string | undefined> {
    const real = await realpath(join(this.#folder, path)).catch(() => undefined);
    if (real === undefined) return this.#say(at, `there is no "${path}" beside the manifest`);
    if (!real.startsWith(this.#folder + sep)) return this.#say(at, `"${path}" leads out of the folder of the manifest`);
    return real;
  }

  #checkJson(path: string, text: string): void {
    let value: unknown;
    let why = 'expected a JSON Schema, an object';
    try {
      value = JSON.parse(text);
    } catch (error) {
      why = `expected JSON: ${(error as Error).message}`;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const file = join(this.#manifestFile, '..', path);
      this.problems.push({ file, line: 1, column: 1, message: why });
    }
  }

  #say(at: (string | number)[], message: string): undefined {
    this.problems.push({ file: this.#manifestFile, ...this.#read.locate(at), message: `${at.join('.')}: ${message}` });
  }
}
