import { TransportError } from '../transport-error.ts';

/** The parts of a kubeconfig that a client reads; names are the file's own. */
export interface Kubeconfig {
  clusters: NamedCluster[];
  users: NamedUser[];
  contexts: NamedContext[];
  currentContext: string;
}

export interface NamedCluster {
  name: string;
  cluster: {
    server?: string;
    'certificate-authority'?: string;
    'certificate-authority-data'?: string;
    'insecure-skip-tls-verify'?: boolean;
    'tls-server-name'?: string;
    'proxy-url'?: string;
  };
}

export interface NamedUser {
  name: string;
  user: {
    'client-certificate'?: string;
    'client-certificate-data'?: string;
    'client-key'?: string;
    'client-key-data'?: string;
    token?: string;
    tokenFile?: string;
    username?: string;
    password?: string;
    as?: string;
    'as-uid'?: string;
    'as-groups'?: string[];
    'as-user-extra'?: Record<string, string[]>;
    exec?: ExecConfig;
    'auth-provider'?: { name?: string };
  };
}

export interface ExecConfig {
  apiVersion?: string;
  command: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
  installHint?: string;
  provideClusterInfo?: boolean;
  interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
}

export interface NamedContext {
  name: string;
  context: { cluster?: string; user?: string; namespace?: string };
}

/** What one context of a kubeconfig comes to. */
export interface ResolvedContext {
  name: string;
  namespace: string;
  cluster: NamedCluster['cluster'];
  user: NamedUser['user'];
}

/** Several files as one: the first to name a cluster, user or context, and the first current-context, win. */
export function mergeKubeconfigs(configs: Kubeconfig[]): Kubeconfig {
  const firstOf = <T extends { name: string }>(lists: T[][]): T[] => {
    const merged = new Map<string, T>();
    for (const entry of lists.flat()) if (!merged.has(entry.name)) merged.set(entry.name, entry);
    return [...merged.values()];
  };
  return {
    clusters: firstOf(configs.map((config) => config.clusters)),
    users: firstOf(configs.map((config) => config.users)),
    contexts: firstOf(configs.map((config) => config.contexts)),
    currentContext: configs.find((config) => config.currentContext !== '')?.currentContext ?? '',
  };
}

export function resolveContext(config: Kubeconfig, wanted?: string): ResolvedContext {
  const name = wanted ?? config.currentContext;
  if (name === '') {
    throw new TransportError('BadConfig', 'Cannot choose a cluster: the kubeconfig has no current-context; name a context');
  }
  const entry = find(config.contexts, name, 'context', 'choose another');
  const clusterName = entry.context.cluster ?? '';
  const { cluster } = find(config.clusters, clusterName, 'cluster', `correct context "${name}"`);
  const userName = entry.context.user ?? '';
  const user = userName === '' ? {} : find(config.users, userName, 'user', `correct context "${name}"`).user;
  if (!cluster.server) {
    throw new TransportError('BadConfig', `Cannot use cluster "${clusterName}": it has no server; add its address to the kubeconfig`);
  }
  return { name, namespace: entry.context.namespace || 'default', cluster, user };
}

function find<T extends { name: string }>(entries: T[], name: string, what: string, remedy: string): T {
  const found = entries.find((entry) => entry.name === name);
  if (found) return found;
  const known = entries.map((entry) => `"${entry.name}"`).join(', ') || 'none';
  throw new TransportError('BadConfig', `Cannot find ${what} "${name}": the kubeconfig has ${known}; ${remedy}`);
}
