import type { EnvVar, RunSpec } from '../api/kruntimes.io/v1alpha1/run.ts';
import type { ObjectMeta } from '../kube/object.ts';
import { formatGoDuration, parseGoDuration } from '../kube/go-duration.ts';
import type { EnvSource, RunRequest } from './runs-api.ts';

export interface RunManifest {
  metadata: ObjectMeta;
  spec: RunSpec;
}

/** The object to create for a request. @throws Error when the request cannot be meant */
export function runManifest(request: RunRequest, generatedName: string): RunManifest {
  const { runtime = 'bash', args = [] } = request;
  const source = sourceOf(request);
  if (source === undefined && args.length === 0) {
    throw new Error('Cannot run nothing: there is no command, script or repository; give one of them');
  }
  const isCommand = source === undefined && request.entrypoint === undefined;
  const spec: RunSpec = {
    runtime,
    mode: {
      task: definedOnly({
        entrypoint: request.entrypoint,
        args: args.length === 0 ? undefined : isCommand ? commandLine(runtime, args) : args,
      }),
    },
    ...definedOnly({
      source,
      env: environment(request.env),
      timeout: duration(request.timeout, 'timeout'),
      retryPolicy: retryPolicy(request.retry),
      ttlSecondsAfterFinished: request.ttlSeconds,
      priority: request.priority,
      resources: request.requests && { requests: request.requests },
    }),
  };
  const metadata = { name: request.name ?? generatedName, ...definedOnly({ labels: request.labels, annotations: request.annotations }) };
  return { metadata, spec };
}

function sourceOf({ script, repository }: RunRequest): RunSpec['source'] {
  if (script !== undefined && repository !== undefined) {
    throw new Error('Cannot run a script and a repository at once: give one of them');
  }
  if (script !== undefined) return { inline: script };
  if (repository === undefined) return undefined;
  return definedOnly({ repoURL: repository.url, commitSHA: repository.ref, credentialsSecretName: repository.credentialsSecret });
}

const SHELL_RUNTIME = /(^|[-.])(bash|sh)($|[-.])/;

/**
 * Bash Runtimes take several arguments as the lines of a script, other Runtimes as the arguments of their interpreter. Whoever says
 * `echo hi` means a command, so that for Bash it becomes one line.
 */
function commandLine(runtime: string, args: string[]): string[] {
  const isShellCall = (args[0] === 'sh' || args[0] === 'bash') && args[1] === '-c';
  if (!SHELL_RUNTIME.test(runtime) || args.length === 1 || isShellCall) return args;
  return [args.map(quoteForShell).join(' ')];
}

export function quoteForShell(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function environment(env: RunRequest['env']): EnvVar[] | undefined {
  if (env === undefined || Object.keys(env).length === 0) return undefined;
  return Object.entries(env).map(([name, value]) => (typeof value === 'string' ? { name, value } : { name, valueFrom: valueFrom(value) }));
}

function valueFrom(source: EnvSource): EnvVar['valueFrom'] {
  if ('field' in source) return { fieldRef: { fieldPath: source.field } };
  const { key } = source;
  const optional = source.optional ? { optional: true } : {};
  return 'secret' in source
    ? { secretKeyRef: { name: source.secret, key, ...optional } }
    : { configMapKeyRef: { name: source.configMap, key, ...optional } };
}

function retryPolicy(retry: RunRequest['retry']): RunSpec['retryPolicy'] {
  if (retry === undefined) return undefined;
  return { maxAttempts: retry.attempts, ...definedOnly({ backoff: duration(retry.backoff, 'back-off'), retryableReasons: retry.reasons }) };
}

function duration(value: number | string | undefined, what: string): string | undefined {
  if (value === undefined) return undefined;
  const milliseconds = typeof value === 'number' ? value : parseGoDuration(value);
  if (milliseconds === undefined || !Number.isFinite(milliseconds) || milliseconds < 0) {
    throw new Error(`Cannot use "${value}" as ${what}: it is no duration; write one such as 30s, 1m30s or 500ms`);
  }
  return typeof value === 'number' ? formatGoDuration(milliseconds) : value;
}

function definedOnly<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
