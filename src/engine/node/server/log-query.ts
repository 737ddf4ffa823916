import { badRequestError, failure } from '../../../kube/status.ts';
import type { LogOptions } from './pod-access.ts';

const STREAMS = new Set(['All', 'Stdout', 'Stderr']);

/** The options of a log request as the kubelet reads them. @throws StatusError */
export function parseLogQuery(query: URLSearchParams): LogOptions {
  const number = (name: string, least: number): number | undefined => {
    const value = query.get(name);
    if (value === null || value === '') return undefined;
    const parsed = Number(value);
    if (!Number.isSafeInteger(parsed)) throw badRequestError('{"message": "Unable to decode query."}');
    if (parsed < least) throw failure('Invalid', '{"message": "Invalid request."}');
    return parsed;
  };
  const tail = query.get('tail');
  const options: LogOptions = {
    follow: isSet(query, 'follow'),
    previous: isSet(query, 'previous'),
    timestamps: isSet(query, 'timestamps'),
    // `tail` is the parameter's old name.
    tailLines: tail !== null && tail !== 'all' ? number('tail', 0) : number('tailLines', 0),
    sinceSeconds: number('sinceSeconds', 1),
    sinceTime: query.get('sinceTime') ?? undefined,
    limitBytes: number('limitBytes', 1),
    stream: (query.get('stream') ?? 'All') as LogOptions['stream'],
  };
  if (!STREAMS.has(options.stream)) throw badRequestError(`invalid stream type "${options.stream}"`);
  if (options.sinceTime !== undefined && Number.isNaN(Date.parse(options.sinceTime))) {
    throw badRequestError('{"message": "Unable to decode query."}');
  }
  return options;
}

function isSet(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value === 'true' || value === '1';
}
