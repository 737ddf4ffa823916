import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type Client } from '../client/client.ts';
import { connectContext, connectInCluster } from '../client/config/connect.ts';
import { loadKubeconfig } from '../client/config/kubeconfig-file.ts';
import { resolveContext, type Kubeconfig, type ResolvedContext } from '../client/config/kubeconfig.ts';
import { TransportError } from '../client/transport-error.ts';
import type { Transport } from '../client/transport.ts';
import type { ClusterOptions } from './runs-api.ts';

/** What the process was started with; read by the composition root. */
export interface Surroundings {
  env: Record<string, string | undefined>;
  home: string;
  userAgent: string;
  /** Where an instance keeps its things, if none is named: $TENANTRY_DATA, `~/.tenantry`. */
  dataDirectory(named: string | undefined): string;
}

/** A connection to the API server of a cluster, and the namespace that is meant when none is named. */
export interface Cluster {
  client: Client;
  transport: Transport;
  namespace: string;
  server: string;
}

/** Nothing is dialled before the first request. @throws TransportError when it is not clear which cluster is meant */
export async function openCluster(options: ClusterOptions, surroundings: Surroundings): Promise<Cluster> {
  const context = await chooseContext(options, surroundings);
  const { userAgent, env } = surroundings;
  if (context === undefined) {
    const { transport, namespace } = await connectInCluster(env, { userAgent });
    return { client: clientOf(transport), transport, namespace: options.namespace ?? namespace, server: 'in-cluster' };
  }
  const transport = await connectContext(context, { userAgent, env });
  return { client: clientOf(transport), transport, namespace: options.namespace ?? context.namespace, server: context.cluster.server! };
}

/** Somebody waits for the answer: one more try for a server that is just starting, no more. */
function clientOf(transport: Transport): Client {
  return createClient(transport, { retry: { maxRetries: 1 } });
}

/** @returns undefined when the process is in a Pod and nothing else is named */
export async function chooseContext(options: ClusterOptions, surroundings: Surroundings): Promise<ResolvedContext | undefined> {
  const config = await chooseKubeconfig(options, surroundings);
  if (config === undefined) {
    if (options.server !== undefined) return withOverrides({ name: '', namespace: 'default', cluster: {}, user: {} }, options);
    if (surroundings.env.KUBERNETES_SERVICE_HOST) return undefined;
    throw new TransportError(
      'BadConfig',
      'Cannot find a cluster: there is no kubeconfig and no instance on this machine; start one with `tenantry up`, or name one with --kubeconfig or KUBECONFIG',
    );
  }
  return withOverrides(resolveNamed(config, options), options);
}

/**
 * The first of: the file that is named, the instance that is named, $KUBECONFIG, $TENANTRY_DATA, `~/.kube/config`, the instance in its
 * usual place. So that on a machine with nothing but an instance there is nothing to set up.
 */
async function chooseKubeconfig(options: ClusterOptions, surroundings: Surroundings): Promise<Kubeconfig | undefined> {
  const { env, home, dataDirectory } = surroundings;
  if (options.kubeconfig !== undefined) return loadKubeconfig({ path: options.kubeconfig });
  if (options.data !== undefined) return instanceKubeconfig(dataDirectory(options.data));
  if (env.KUBECONFIG) return loadKubeconfig({ variable: env.KUBECONFIG });
  if (env.TENANTRY_DATA) return instanceKubeconfig(dataDirectory(undefined));
  if (existsSync(join(home, '.kube', 'config'))) {
    const config = await loadKubeconfig({ home });
    // kubectl leaves such files behind; they name no cluster.
    if (config.currentContext !== '' || options.context !== undefined) return config;
  }
  const own = join(dataDirectory(undefined), 'kubeconfig');
  return existsSync(own) ? loadKubeconfig({ path: own }) : undefined;
}

async function instanceKubeconfig(data: string): Promise<Kubeconfig> {
  const path = join(data, 'kubeconfig');
  if (!existsSync(path)) {
    throw new TransportError('BadConfig', `Cannot use the instance in "${data}": none was started there yet; run \`tenantry up\` first`);
  }
  return loadKubeconfig({ path });
}

/** `--cluster` and `--user` stand for those of the context. */
function resolveNamed(config: Kubeconfig, { context, cluster, user }: ClusterOptions): ResolvedContext {
  if (cluster === undefined && user === undefined) return resolveContext(config, context);
  const name = context ?? config.currentContext;
  const contexts = config.contexts.map((entry) =>
    entry.name === name
      ? { name, context: { ...entry.context, cluster: cluster ?? entry.context.cluster, user: user ?? entry.context.user } }
      : entry,
  );
  return resolveContext({ ...config, contexts }, context);
}

function withOverrides(context: ResolvedContext, options: ClusterOptions): ResolvedContext {
  const cluster = { ...context.cluster };
  const user = { ...context.user };
  if (options.server !== undefined) cluster.server = options.server;
  if (options.certificateAuthority !== undefined) {
    delete cluster['certificate-authority-data'];
    cluster['certificate-authority'] = options.certificateAuthority;
  }
  if (options.insecureSkipTlsVerify) {
    delete cluster['certificate-authority-data'];
    delete cluster['certificate-authority'];
    cluster['insecure-skip-tls-verify'] = true;
  }
  if (options.tlsServerName !== undefined) cluster['tls-server-name'] = options.tlsServerName;
  if (options.token !== undefined) {
    // Somebody who names a token means that and nothing else.
    for (const field of ['tokenFile', 'exec', 'username', 'password', 'auth-provider'] as const) delete user[field];
    user.token = options.token;
  }
  if (options.clientCertificate !== undefined) {
    delete user['client-certificate-data'];
    user['client-certificate'] = options.clientCertificate;
  }
  if (options.clientKey !== undefined) {
    delete user['client-key-data'];
    user['client-key'] = options.clientKey;
  }
  if (options.as !== undefined) user.as = options.as;
  if (options.asUid !== undefined) user['as-uid'] = options.asUid;
  if (options.asGroups !== undefined && options.asGroups.length > 0) user['as-groups'] = options.asGroups;
  return { ...context, cluster, user };
}
