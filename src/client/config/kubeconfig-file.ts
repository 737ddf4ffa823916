import { readFile } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { errorText } from '../../lib/log.ts';
import { TransportError } from '../transport-error.ts';
import { mergeKubeconfigs, type Kubeconfig } from './kubeconfig.ts';

export interface KubeconfigLocation {
  /** One file, named by the user: it must exist. */
  path?: string;
  /** The value of KUBECONFIG: a list of files, missing ones skipped. */
  variable?: string;
  /** `~/.kube/config` is read from here when neither is given. */
  home?: string;
}

export async function loadKubeconfig(location: KubeconfigLocation): Promise<Kubeconfig> {
  if (location.path !== undefined) return readKubeconfig(location.path);
  const files = (location.variable ?? '').split(delimiter).filter((file) => file !== '');
  if (files.length === 0 && location.home !== undefined) files.push(join(location.home, '.kube', 'config'));
  const configs: Kubeconfig[] = [];
  for (const file of files) {
    try {
      configs.push(await readKubeconfig(file));
    } catch (error) {
      if ((error as { cause?: NodeJS.ErrnoException }).cause?.code !== 'ENOENT') throw error;
    }
  }
  if (configs.length === 0) {
    const looked = files.length > 0 ? `none of ${files.map((file) => `"${file}"`).join(', ')} exists` : 'no file is named';
    throw new TransportError('BadConfig', `Cannot find a kubeconfig: ${looked}; pass its path or set KUBECONFIG`);
  }
  return mergeKubeconfigs(configs);
}

async function readKubeconfig(file: string): Promise<Kubeconfig> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new TransportError('BadConfig', `Cannot read kubeconfig "${file}": ${errorText(error)}; check the path`, { cause: error });
  }
  return parseKubeconfig(text, file);
}

/** Paths in the file are relative to the folder it is in. */
export async function parseKubeconfig(text: string, file = 'kubeconfig'): Promise<Kubeconfig> {
  let document: unknown;
  try {
    document = text.trimStart().startsWith('{') ? JSON.parse(text) : (await import('yaml')).parse(text);
  } catch (error) {
    throw new TransportError('BadConfig', `Cannot read kubeconfig "${file}": ${errorText(error)}; correct the file`, { cause: error });
  }
  if (document === null || document === undefined) document = {};
  if (typeof document !== 'object' || Array.isArray(document)) {
    throw new TransportError('BadConfig', `Cannot read kubeconfig "${file}": it is not a mapping; correct the file`);
  }
  const raw = document as Record<string, unknown>;
  const config: Kubeconfig = {
    clusters: entries(raw, 'clusters', 'cluster', file),
    users: entries(raw, 'users', 'user', file),
    contexts: entries(raw, 'contexts', 'context', file),
    currentContext: typeof raw['current-context'] === 'string' ? raw['current-context'] : '',
  };
  makePathsAbsolute(config, dirname(file));
  return config;
}

function entries<T extends { name: string }>(raw: Record<string, unknown>, list: string, field: string, file: string): T[] {
  const value = raw[list] ?? [];
  const wrong = (): TransportError =>
    new TransportError('BadConfig', `Cannot read kubeconfig "${file}": ${list} must be a list of named entries; correct the file`);
  if (!Array.isArray(value)) throw wrong();
  return value.map((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null || typeof (entry as T).name !== 'string') throw wrong();
    const body = (entry as Record<string, unknown>)[field] ?? {};
    if (typeof body !== 'object' || Array.isArray(body)) throw wrong();
    return { name: (entry as T).name, [field]: { ...body } } as unknown as T;
  });
}

function makePathsAbsolute(config: Kubeconfig, folder: string): void {
  const fix = (object: Record<string, unknown>, field: string): void => {
    const path = object[field];
    if (typeof path === 'string' && path !== '' && !isAbsolute(path)) object[field] = join(folder, path);
  };
  for (const { cluster } of config.clusters) fix(cluster, 'certificate-authority');
  for (const { user } of config.users) {
    for (const field of ['client-certificate', 'client-key', 'tokenFile']) fix(user, field);
    // A bare command is looked up in PATH; one with a slash is relative to the file, as kubectl does it.
    const { exec } = user;
    if (exec?.command.includes('/') && !isAbsolute(exec.command)) user.exec = { ...exec, command: join(folder, exec.command) };
  }
}
