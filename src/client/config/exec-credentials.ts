import { execFile } from 'node:child_process';
import type { Clock } from '../../lib/clock.ts';
import { errorText } from '../../lib/log.ts';
import { TransportError } from '../transport-error.ts';
import type { Credentials, KeyPair } from './credentials.ts';
import type { ExecConfig, NamedCluster } from './kubeconfig.ts';

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const PLUGIN_TIMEOUT_MS = 60_000;

interface ExecCredential {
  token?: string;
  pair?: KeyPair;
  /** Milliseconds since the epoch; absent: good until the server refuses it. */
  expires?: number;
}

export interface ExecContext {
  cluster: NamedCluster['cluster'];
  clock: Clock;
  /** Of this process; the plugin's own additions come on top. */
  env: Record<string, string | undefined>;
}

/** Credentials from a plugin (client.authentication.k8s.io), run when they are first needed, expire or are refused. */
export function execCredentials(config: ExecConfig, context: ExecContext): Credentials {
  const apiVersion = config.apiVersion ?? '';
  if (!API_VERSIONS.includes(apiVersion)) {
    throw new TransportError(
      'BadConfig',
      `Cannot run exec plugin "${config.command}": apiVersion "${apiVersion}" is not supported; use ${API_VERSIONS[0]}`,
    );
  }
  let cached: ExecCredential | undefined;
  let running: Promise<ExecCredential> | undefined;

  const current = (): Promise<ExecCredential> => {
    if (cached && (cached.expires === undefined || context.clock.now() < cached.expires)) return Promise.resolve(cached);
    running ??= runPlugin(config, context).then(
      (credential) => {
        cached = credential;
        running = undefined;
        return credential;
      },
      (error: unknown) => {
        running = undefined;
        throw error;
      },
    );
    return running;
  };

  return {
    async headers(): Promise<Record<string, string>> {
      const { token } = await current();
      return token === undefined ? {} : { Authorization: `Bearer ${token}` };
    },
    certificate: async () => (await current()).pair,
    refresh() {
      const had = cached !== undefined;
      cached = undefined;
      return had;
    },
  };
}

async function runPlugin(config: ExecConfig, context: ExecContext): Promise<ExecCredential> {
  const env: Record<string, string | undefined> = { ...context.env };
  for (const { name, value } of config.env ?? []) env[name] = value;
  env.KUBERNETES_EXEC_INFO = JSON.stringify(execInfo(config, context.cluster));
  const output = await new Promise<string>((resolve, reject) => {
    execFile(config.command, config.args ?? [], { env, timeout: PLUGIN_TIMEOUT_MS, maxBuffer: 1024 * 1024 }, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else reject(pluginError(config, stderr.trim() === '' ? errorText(error) : stderr.trim().slice(-500), error));
    }).stdin?.end();
  });
  return parseExecCredential(output, config);
}

function execInfo(config: ExecConfig, cluster: NamedCluster['cluster']): unknown {
  const info = { apiVersion: config.apiVersion, kind: 'ExecCredential', spec: { interactive: false } as Record<string, unknown> };
  if (config.provideClusterInfo) {
    info.spec.cluster = {
      server: cluster.server,
      'tls-server-name': cluster['tls-server-name'],
      'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
      'certificate-authority-data': cluster['certificate-authority-data'],
      'proxy-url': cluster['proxy-url'],
    };
  }
  return info;
}

export function parseExecCredential(output: string, config: Pick<ExecConfig, 'command' | 'apiVersion'>): ExecCredential {
  let document: { kind?: string; apiVersion?: string; status?: Record<string, unknown> };
  try {
    document = JSON.parse(output);
  } catch (error) {
    throw pluginError(config, 'it did not print JSON', error);
  }
  if (document?.kind !== 'ExecCredential') throw pluginError(config, 'it did not print an ExecCredential');
  if (document.apiVersion !== config.apiVersion) {
    throw pluginError(config, `it answered in ${document.apiVersion}, ${config.apiVersion} was asked for`);
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = document.status ?? {};
  const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
  if ((text(cert) === undefined) !== (text(key) === undefined)) throw pluginError(config, 'a certificate needs its key');
  if (!text(token) && !text(cert)) throw pluginError(config, 'it gave neither a token nor a certificate');
  const expires = text(expirationTimestamp) === undefined ? undefined : Date.parse(text(expirationTimestamp)!);
  if (Number.isNaN(expires)) throw pluginError(config, 'expirationTimestamp is not a time');
  return { token: text(token), pair: text(cert) ? { cert: text(cert)!, key: text(key)! } : undefined, expires };
}

function pluginError(config: Pick<ExecConfig, 'command'> & { installHint?: string }, text: string, cause?: unknown): TransportError {
  const missing = (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  const hint = missing ? `; ${config.installHint ?? 'install it or correct the kubeconfig'}` : '';
  return new TransportError(
    'CredentialsFailed',
    `Cannot get credentials from "${config.command}": ${missing ? 'not found' : text}${hint}`,
    { cause },
  );
}
