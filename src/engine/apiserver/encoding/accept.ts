import { failure } from '../../../kube/status.ts';

/** How the client wants objects: whole, as a Table for people, or only their metadata. */
export interface Accepted {
  format: 'json' | 'yaml';
  as: 'object' | 'Table' | 'PartialObjectMetadata';
  /** Version of meta.k8s.io for Table and PartialObjectMetadata. */
  metaVersion: string;
}

const PLAIN: Accepted = { format: 'json', as: 'object', metaVersion: 'v1' };
const CACHE_LIMIT = 256;
const cache = new Map<string, Accepted>();

/** @throws StatusError NotAcceptable. JSON is what we speak: clients that prefer protobuf name JSON as their second choice. */
export function negotiate(header: string | string[] | undefined): Accepted {
  const accept = Array.isArray(header) ? header.join(',') : (header ?? '');
  if (accept === '' || accept === 'application/json') return PLAIN;
  const known = cache.get(accept);
  if (known !== undefined) return known;
  const result = parse(accept, true);
  if (cache.size < CACHE_LIMIT) cache.set(accept, result);
  return result;
}

/** The same for what has no Table form, like reviews. @throws StatusError NotAcceptable when the client takes nothing but a Table. */
export function negotiateWithoutTables(header: string | string[] | undefined): Accepted {
  const accept = Array.isArray(header) ? header.join(',') : (header ?? '');
  return accept.includes('Table') ? parse(accept, false) : negotiate(accept);
}

function parse(accept: string, tables: boolean): Accepted {
  const clauses = accept.split(',').map((clause) => {
    const [type, ...params] = clause.split(';').map((part) => part.trim());
    const values: Record<string, string> = {};
    for (const param of params) {
      const equals = param.indexOf('=');
      if (equals > 0) values[param.slice(0, equals)] = param.slice(equals + 1);
    }
    return { type, values, quality: values.q === undefined ? 1 : Number(values.q) };
  });
  clauses.sort((a, b) => b.quality - a.quality);
  for (const { type, values } of clauses) {
    const accepted = acceptClause(type, values);
    if (accepted !== undefined && (tables || accepted.as !== 'Table')) return accepted;
  }
  throw failure(
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    {},
  );
}

function acceptClause(type: string, params: Record<string, string>): Accepted | undefined {
  const json = type === 'application/json' || type === '*/*' || type === 'application/*' || type === '';
  if (!json && type !== 'application/yaml') return undefined;
  const format = json ? 'json' : 'yaml';
  if (params.as === undefined) return { format, as: 'object', metaVersion: 'v1' };
  if (params.g !== 'meta.k8s.io' || (params.v !== 'v1' && params.v !== 'v1beta1')) return undefined;
  if (params.as === 'Table') return { format, as: 'Table', metaVersion: params.v };
  if (params.as === 'PartialObjectMetadata' || params.as === 'PartialObjectMetadataList') {
    return { format, as: 'PartialObjectMetadata', metaVersion: params.v };
  }
  return undefined;
}
