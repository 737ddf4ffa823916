import { forbidden, invalid, notSupported, type FieldError } from '../../../kube/field-error.ts';
import { quote } from '../../../kube/go-text.ts';
import { badRequestError, invalidError } from '../../../kube/status.ts';

/** The options of a subresource that is connected to, as objects of v1: admission sees them like that. */
export interface CommandQuery {
  apiVersion: 'v1';
  kind: 'PodExecOptions' | 'PodAttachOptions';
  stdin?: boolean;
  stdout?: boolean;
  stderr?: boolean;
  tty?: boolean;
  container?: string;
  command?: string[];
}

export interface PortForwardQuery {
  apiVersion: 'v1';
  kind: 'PodPortForwardOptions';
  ports?: number[];
}

export interface ProxyQuery {
  apiVersion: 'v1';
  kind: 'PodProxyOptions' | 'ServiceProxyOptions' | 'NodeProxyOptions';
  path?: string;
}

export type ConnectOptions = CommandQuery | PortForwardQuery | ProxyQuery;

export function commandQuery(kind: CommandQuery['kind'], query: URLSearchParams): CommandQuery {
  return {
    apiVersion: 'v1',
    kind,
    ...(isTrue(query, 'stdin') && { stdin: true }),
    ...(isTrue(query, 'stdout') && { stdout: true }),
    ...(isTrue(query, 'stderr') && { stderr: true }),
    ...(isTrue(query, 'tty') && { tty: true }),
    ...(query.get('container') && { container: query.get('container')! }),
    ...(kind === 'PodExecOptions' && query.has('command') && { command: query.getAll('command') }),
  };
}

/** How the kubelet calls them. */
export function commandParameters(options: CommandQuery): URLSearchParams {
  const parameters = new URLSearchParams();
  if (options.stdin) parameters.set('input', '1');
  if (options.stdout) parameters.set('output', '1');
  if (options.stderr) parameters.set('error', '1');
  if (options.tty) parameters.set('tty', '1');
  for (const word of options.command ?? []) parameters.append('command', word);
  return parameters;
}

/** @throws StatusError */
export function portForwardQuery(query: URLSearchParams): PortForwardQuery {
  const ports = query.getAll('ports').flatMap((value) => value.split(',').map((text) => integer(text)));
  return { apiVersion: 'v1', kind: 'PodPortForwardOptions', ...(ports.length > 0 && { ports }) };
}

/** The options of a log request, checked, as parameters for the kubelet. @throws StatusError */
export function logParameters(pod: string, query: URLSearchParams): URLSearchParams {
  const numbers = {
    tailLines: number(query, 'tailLines'),
    limitBytes: number(query, 'limitBytes'),
    sinceSeconds: number(query, 'sinceSeconds'),
  };
  const sinceTime = time(query.get('sinceTime'));
  const stream = query.get('stream') ?? 'All';
  const errors = logErrors({ ...numbers, sinceTime, stream });
  if (errors.length > 0) throw invalidError({ group: '', kind: 'PodLogOptions' }, pod, errors);
  const parameters = new URLSearchParams();
  for (const name of ['follow', 'previous', 'timestamps']) if (isTrue(query, name)) parameters.set(name, 'true');
  if (sinceTime !== undefined) parameters.set('sinceTime', sinceTime);
  for (const [name, value] of Object.entries(numbers)) if (value !== undefined) parameters.set(name, String(value));
  // Kubelets know it only when a feature of theirs is on.
  if (stream !== 'All') parameters.set('stream', stream);
  return parameters;
}

const STREAMS = ['All', 'Stderr', 'Stdout'];

function logErrors(options: {
  tailLines?: number;
  limitBytes?: number;
  sinceSeconds?: number;
  sinceTime?: string;
  stream: string;
}): FieldError[] {
  const { tailLines, limitBytes, sinceSeconds, sinceTime, stream } = options;
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) errors.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  if (limitBytes !== undefined && limitBytes < 1) errors.push(invalid('limitBytes', limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  if (!STREAMS.includes(stream)) errors.push(notSupported('stream', stream, STREAMS));
  if (stream !== 'All' && tailLines !== undefined) {
    errors.push(forbidden('', '`tailLines` and specific `stream` are mutually exclusive for now'));
  }
  return errors;
}

/** Whatever is not "false" or "0" is true, the empty text included. */
function isTrue(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

function number(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  return value === null ? undefined : integer(value);
}

function integer(text: string): number {
  const value = Number(text);
  if (!/^[+-]?\d+$/.test(text)) throw badRequestError(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
  if (!Number.isSafeInteger(value)) throw badRequestError(`strconv.ParseInt: parsing ${quote(text)}: value out of range`);
  return value;
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function time(text: string | null): string | undefined {
  if (text === null || text === '') return undefined;
  const at = RFC3339.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(at))
    throw badRequestError(`parsing time ${quote(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${quote(text)} as "2006"`);
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
