import { TRACEPARENT_ANNOTATION, TRACEPARENT_VARIABLE } from '../../api/kruntimes.io/v1alpha1/names.ts';
import { parseTraceparent } from '../../lib/tracing/trace-context.ts';
import type { EnvSource, RunRequest } from '../../sdk/runs-api.ts';
import { parseGoDuration } from '../../kube/go-duration.ts';

export interface RunFlags {
  runtime?: string;
  timeout?: string;
  file?: string;
  entrypoint?: string;
  handler?: string;
  repoUrl?: string;
  commitSha?: string;
  gitSecret?: string;
  env?: string[];
  envFile?: string[];
  secret?: string[];
  configMap?: string[];
  retryAttempts?: string;
  retryBackoff?: string;
  ttl?: string;
  priority?: string;
  request?: string[];
  name?: string;
  label?: string[];
}

/** What flags point to. */
export interface FlagSources {
  read(file: string): Promise<string>;
  env: Record<string, string | undefined>;
}

/** The most that a Run carries of a script. */
const LONGEST_SCRIPT = 262_144;
const RUNTIME_OF_SUFFIX: Record<string, string> = { py: 'python', js: 'node', cjs: 'node', sh: 'bash', bash: 'bash' };

/** The request that the command line stands for. */
export async function runRequest(args: string[], flags: RunFlags, sources: FlagSources): Promise<RunRequest> {
  if (flags.handler !== undefined) {
    throw new Error('Cannot run a handler: functions are not part of this release; run a script with -f, or a command after --');
  }
  if (flags.commitSha !== undefined && flags.repoUrl === undefined) {
    throw new Error('Cannot use --commit-sha without --repo-url: name the repository');
  }
  const script = flags.file === undefined ? undefined : await scriptOf(flags.file, sources);
  return {
    runtime: flags.runtime ?? runtimeOf(flags.file),
    args,
    script,
    repository: flags.repoUrl === undefined ? undefined : { url: flags.repoUrl, ref: flags.commitSha, credentialsSecret: flags.gitSecret },
    entrypoint: flags.entrypoint,
    env: await environment(flags, sources),
    timeout: flags.timeout,
    retry: retry(flags),
    ttlSeconds: flags.ttl === undefined ? undefined : seconds(flags.ttl),
    priority: flags.priority === undefined ? undefined : wholeNumber(flags.priority, 'priority', -1000, 1000),
    requests: optional(pairs(flags.request, '--request')),
    name: flags.name,
    labels: optional(pairs(flags.label, '--label')),
    annotations: traceOf(sources.env),
  };
}

/** Whoever is traced and starts us says so in the environment: the Run is a part of that. */
function traceOf(env: FlagSources['env']): Record<string, string> | undefined {
  const said = env[TRACEPARENT_VARIABLE];
  return said !== undefined && parseTraceparent(said) !== undefined ? { [TRACEPARENT_ANNOTATION]: said } : undefined;
}

async function scriptOf(file: string, { read }: FlagSources): Promise<string> {
  let script: string;
  try {
    script = await read(file);
  } catch (error) {
    throw new Error(`Cannot read the script "${file}": ${(error as Error).message}; name a file that is there`, { cause: error });
  }
  if (script.length > LONGEST_SCRIPT) {
    throw new Error(`Cannot run "${file}": it has ${script.length} characters and a Run carries ${LONGEST_SCRIPT}; use --repo-url`);
  }
  return script;
}

/** By the file's name, where that says it. */
function runtimeOf(file: string | undefined): string {
  const suffix = /\.(\w+)$/.exec(file ?? '')?.[1] ?? '';
  return RUNTIME_OF_SUFFIX[suffix] ?? 'bash';
}

/** Files first, then the variables of the command line; the later one wins. */
async function environment(flags: RunFlags, sources: FlagSources): Promise<RunRequest['env']> {
  const env: Record<string, string | EnvSource> = {};
  for (const file of flags.envFile ?? []) Object.assign(env, parseEnvFile(await sources.read(file), file));
  for (const text of flags.env ?? []) {
    const [name, value = sources.env[name]] = pair(text);
    if (value === undefined) throw new Error(`Cannot pass "${name}" on: it is not set here; write --env ${name}=value`);
    env[name] = value;
  }
  for (const text of flags.secret ?? []) {
    const [name, { object, key }] = reference(text, '--secret', 'secret');
    env[name] = { secret: object, key };
  }
  for (const text of flags.configMap ?? []) {
    const [name, { object, key }] = reference(text, '--config-map', 'configmap');
    env[name] = { configMap: object, key };
  }
  return optional(env);
}

/** `NAME=value` lines; `#` comments, `export` and one pair of quotes around a value are understood. */
export function parseEnvFile(text: string, file: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim().replace(/^export\s+/, '');
    if (line === '' || line.startsWith('#')) continue;
    const found = /^([^\s=]+)\s*=\s*(.*)$/s.exec(line);
    if (found === null) throw new Error(`Cannot read "${file}": line ${index + 1} is not NAME=value`);
    env[found[1]] = found[2].replace(/^(["'])(.*)\1$/s, '$2');
  }
  return env;
}

function reference(text: string, flag: string, what: string): [string, { object: string; key: string }] {
  const found = /^([^=]+)=([^/]+)\/(.+)$/.exec(text);
  if (found === null) throw new Error(`Cannot use "${text}" as ${flag}: write NAME=${what}/key`);
  return [found[1], { object: found[2], key: found[3] }];
}

function retry(flags: RunFlags): RunRequest['retry'] {
  if (flags.retryAttempts === undefined) {
    if (flags.retryBackoff !== undefined) throw new Error('Cannot use --retry-backoff alone: say how often with --retry-attempts');
    return undefined;
  }
  return { attempts: wholeNumber(flags.retryAttempts, 'number of attempts', 1, 100), backoff: flags.retryBackoff };
}

/** `3600` or `1h`. */
function seconds(text: string): number {
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : parseGoDuration(text);
  if (milliseconds === undefined) throw new Error(`Cannot use "${text}" as --ttl: write seconds, or a duration such as 1h or 30m`);
  return Math.ceil(milliseconds / 1000);
}

function wholeNumber(text: string, what: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || value < least || value > most) {
    throw new Error(`Cannot use "${text}" as ${what}: write a whole number from ${least} to ${most}`);
  }
  return value;
}

function pair(text: string): [string, string | undefined] {
  const at = text.indexOf('=');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function pairs(texts: string[] | undefined, flag: string): Record<string, string> {
  return Object.fromEntries(
    (texts ?? []).map((text) => {
      const [name, value] = pair(text);
      if (value === undefined || name === '') throw new Error(`Cannot use "${text}" as ${flag}: write name=value`);
      return [name, value];
    }),
  );
}

function optional<T extends object>(fields: T): T | undefined {
  return Object.keys(fields).length === 0 ? undefined : fields;
}
