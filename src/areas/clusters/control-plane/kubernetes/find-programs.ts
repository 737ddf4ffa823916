import { access, readdir, realpath } from 'node:fs/promises';
import { constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runCommand } from '../../../../lib/run-command.ts';
import type { ProgramName } from './model/program-plan.ts';

/** The programs of one version of Kubernetes. */
export interface ProgramSet {
  version: string;
  paths: Record<ProgramName, string>;
  etcdutl: string;
}

export interface FoundPrograms {
  /** Newest first. */
  sets: ProgramSet[];
  /** Why there are none. */
  missing?: string;
}

/** How each is called; konnectivity's server is called as its project or as its image calls it. */
const FILES: Record<ProgramName | 'etcdutl', readonly string[]> = {
  etcd: ['etcd'],
  etcdutl: ['etcdutl'],
  'kube-apiserver': ['kube-apiserver'],
  'kube-controller-manager': ['kube-controller-manager'],
  'kube-scheduler': ['kube-scheduler'],
  'konnectivity-server': ['proxy-server', 'konnectivity-server'],
};
/** What ends a program with whoever started it. */
const OF_THE_MACHINE = ['setpriv'];
const VERSION = /^Kubernetes v(\d+\.\d+\.\d+)/;

/**
 * Looks for them in a folder (in it, and in folders of it for further versions), or on the search path when none was named. What a folder
 * of a version lacks is taken from the one above it: etcd and konnectivity need not be there for each.
 */
export async function findPrograms(folder: string | undefined, searchPath: string): Promise<FoundPrograms> {
  const machine = searchPath.split(delimiter).filter((part) => part !== '');
  for (const name of OF_THE_MACHINE) {
    if ((await firstIn(machine, [name])) === undefined) return { sets: [], missing: `"${name}" is not on the search path` };
  }
  const places = folder === undefined ? [machine] : [[folder], ...(await foldersIn(folder)).map((inner) => [inner, folder])];
  const found = await Promise.all(places.map(setIn));
  const sets = found.flatMap((result) => (typeof result === 'string' ? [] : [result]));
  if (sets.length === 0) return { sets, missing: `${found[0] as string}${folder === undefined ? '' : ` in "${folder}"`}` };
  const versions = new Map(sets.toReversed().map((set) => [set.version, set]));
  return { sets: [...versions.values()].sort((a, b) => b.version.localeCompare(a.version, undefined, { numeric: true })) };
}

/** All programs of one version, or what is missing. */
async function setIn(folders: readonly string[]): Promise<ProgramSet | string> {
  const paths: Record<string, string> = {};
  const missing: string[] = [];
  for (const [name, files] of Object.entries(FILES)) {
    const path = await firstIn(folders, files);
    if (path === undefined) missing.push(files[0]);
    else paths[name] = path;
  }
  if (missing.length > 0) return `there is no ${missing.join(', ')}`;
  const { etcdutl, ...programs } = paths;
  const kubernetes = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) => versionOf(programs[name]));
  const versions = [...new Set(await Promise.all(kubernetes))];
  if (versions.length > 1) return `the programs are of different versions (${versions.join(', ')})`;
  return { version: versions[0], paths: programs as Record<ProgramName, string>, etcdutl };
}

async function versionOf(path: string): Promise<string> {
  const said = await runCommand(path, ['--version']).catch(() => '');
  return VERSION.exec(said)?.[1] ?? 'unknown';
}

async function firstIn(folders: readonly string[], files: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    for (const file of files) {
      const path = join(folder, file);
      if (await canRun(path)) return realpath(path);
    }
  }
  return undefined;
}

async function canRun(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}
