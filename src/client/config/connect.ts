import { readFile } from 'node:fs/promises';
import { realClock, type Clock } from '../../lib/clock.ts';
import { errorText } from '../../lib/log.ts';
import type { HttpTransportOptions } from '../http/http-transport.ts';
import { TransportError } from '../transport-error.ts';
import type { Transport } from '../transport.ts';
import {
  basicCredentials,
  certificateCredentials,
  combineCredentials,
  noCredentials,
  tokenCredentials,
  tokenFileCredentials,
  type Credentials,
} from './credentials.ts';
import { execCredentials } from './exec-credentials.ts';
import type { NamedUser, ResolvedContext } from './kubeconfig.ts';

export interface ConnectOptions {
  clock?: Clock;
  /** Environment for exec plugins. */
  env?: Record<string, string | undefined>;
  userAgent?: string;
}

/** The transport for a context of a kubeconfig. Nothing is dialled before the first request. */
export async function connectContext(context: ResolvedContext, options: ConnectOptions = {}): Promise<Transport> {
  const { createHttpTransport } = await import('../http/http-transport.ts');
  return createHttpTransport(contextOptions(context, options));
}

export function contextOptions(context: ResolvedContext, options: ConnectOptions = {}): HttpTransportOptions {
  const { cluster, user } = context;
  const clock = options.clock ?? realClock;
  const headers = impersonation(user);
  if (options.userAgent) headers['User-Agent'] = options.userAgent;
  return {
    endpoint: {
      url: serverUrl(cluster.server!),
      tlsServerName: cluster['tls-server-name'] || undefined,
      insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'],
      proxyUrl: cluster['proxy-url'] || undefined,
    },
    ca: pem(cluster['certificate-authority-data'], cluster['certificate-authority']),
    credentials: userCredentials(context, clock, options.env ?? {}),
    headers,
    clock,
  };
}

const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The transport of a Pod: its own ServiceAccount, with token and CA read again as they rotate. */
export async function connectInCluster(
  env: Record<string, string | undefined>,
  options: ConnectOptions & { folder?: string } = {},
): Promise<{ transport: Transport; namespace: string }> {
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT;
  if (!host || !port) {
    throw new TransportError(
      'BadConfig',
      'Cannot connect from inside a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; run in a Pod or pass a kubeconfig',
    );
  }
  const folder = options.folder ?? SERVICE_ACCOUNT_FOLDER;
  const clock = options.clock ?? realClock;
  const { createHttpTransport } = await import('../http/http-transport.ts');
  const transport = createHttpTransport({
    endpoint: { url: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`) },
    ca: () => read(`${folder}/ca.crt`),
    credentials: tokenFileCredentials(`${folder}/token`, clock),
    headers: options.userAgent ? { 'User-Agent': options.userAgent } : {},
    clock,
  });
  const namespace = await readFile(`${folder}/namespace`, 'utf8').catch(() => 'default');
  return { transport, namespace: namespace.trim() };
}

function serverUrl(server: string): URL {
  const text = server.includes('://') ? server : `https://${server}`;
  try {
    const url = new URL(text);
    if (url.protocol === 'https:' || url.protocol === 'http:') return url;
  } catch {
    // Falls through to the one message for both.
  }
  throw new TransportError('BadConfig', `Cannot use server "${server}": it is not an http or https address; correct the kubeconfig`);
}

function pem(data: string | undefined, file: string | undefined): (() => Promise<string | undefined>) | undefined {
  if (data) {
    const decoded = Buffer.from(data, 'base64').toString('utf8');
    return () => Promise.resolve(decoded);
  }
  return file ? () => read(file) : undefined;
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new TransportError('BadConfig', `Cannot read "${file}": ${errorText(error)}; correct the path`, { cause: error });
  }
}

function userCredentials(context: ResolvedContext, clock: Clock, env: Record<string, string | undefined>): Credentials {
  const { user, cluster } = context;
  const parts: Credentials[] = [];
  const cert = pem(user['client-certificate-data'], user['client-certificate']);
  const key = pem(user['client-key-data'], user['client-key']);
  if (cert && key) parts.push(certificateCredentials(async () => ({ cert: (await cert())!, key: (await key())! })));
  // As in client-go, a token file wins over a token, because it may rotate.
  if (user.tokenFile) parts.push(tokenFileCredentials(user.tokenFile, clock));
  else if (user.token) parts.push(tokenCredentials(user.token));
  else if (user.username) parts.push(basicCredentials(user.username, user.password ?? ''));
  else if (user.exec) parts.push(execCredentials(user.exec, { cluster, clock, env }));
  else if (user['auth-provider']) {
    const { name = '' } = user['auth-provider'];
    throw new TransportError('BadConfig', `Cannot use auth-provider "${name}": Kubernetes has removed these plugins; use an exec plugin`);
  }
  return parts.length === 0 ? noCredentials : combineCredentials(parts);
}

function impersonation(user: NamedUser['user']): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  if (user.as) headers['Impersonate-User'] = user.as;
  if (user['as-uid']) headers['Impersonate-Uid'] = user['as-uid'];
  if (user['as-groups']?.length) headers['Impersonate-Group'] = user['as-groups'];
  for (const [name, values] of Object.entries(user['as-user-extra'] ?? {})) {
    headers[`Impersonate-Extra-${encodeURIComponent(name)}`] = values;
  }
  return headers;
}
