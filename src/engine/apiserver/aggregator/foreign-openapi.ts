import type { Json } from '../../../kube/object.ts';
import type { UserInfo } from '../auth/user.ts';
import type { RemoteApi } from './api-service.ts';
import type { Backend } from './backend.ts';
import { identityHeaders } from './forwarded-headers.ts';

const AGGREGATOR: UserInfo = { name: 'system:aggregator', groups: [] };
const MAX_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/** What a server publishes about one version, with what is needed to ask again only for changes. */
export interface ForeignSpec {
  /** The OpenAPI v3 document under `apis/<group>/<version>`. */
  v3?: { bytes: Uint8Array; url: string };
  /** Paths and definitions of the OpenAPI v2 document that belong to the version. */
  v2?: { paths: Record<string, Json>; definitions: Record<string, Json>; etag?: string };
}

/** Asks again; what did not change is the same object as in `known`. Servers may publish one form, both or none. */
export async function fetchSpec(backend: Backend, api: RemoteApi, known: ForeignSpec = {}): Promise<ForeignSpec> {
  const v3 = await fetchV3(backend, api, known.v3);
  const v2 = await fetchV2(backend, api, known.v2);
  return v3 === known.v3 && v2 === known.v2 ? known : { v3, v2 };
}

async function fetchV3(backend: Backend, api: RemoteApi, known: ForeignSpec['v3']): Promise<ForeignSpec['v3']> {
  const index = await get(backend, api, '/openapi/v3');
  if (index.status !== 200) return undefined;
  const paths: Json = parsed(index.bytes)?.paths;
  const url: unknown = paths?.[`apis/${api.group}/${api.version}`]?.serverRelativeURL;
  if (typeof url !== 'string' || !url.startsWith('/')) return undefined;
  if (url === known?.url) return known;
  const document = await get(backend, api, url);
  return document.status === 200 ? { bytes: document.bytes, url } : undefined;
}

async function fetchV2(backend: Backend, api: RemoteApi, known: ForeignSpec['v2']): Promise<ForeignSpec['v2']> {
  const answer = await get(backend, api, '/openapi/v2', known?.etag);
  if (answer.status === 304) return known;
  if (answer.status !== 200) return undefined;
  const document = parsed(answer.bytes);
  if (typeof document?.paths !== 'object') return undefined;
  return { ...ownParts(document, `/apis/${api.group}/${api.version}`), etag: answer.headers.etag };
}

/** The paths of the version and every definition they lead to. */
export function ownParts(document: Json, prefix: string): { paths: Record<string, Json>; definitions: Record<string, Json> } {
  const paths: Record<string, Json> = {};
  const definitions: Record<string, Json> = {};
  const open: Json[] = [];
  for (const [path, item] of Object.entries<Json>(document.paths ?? {})) {
    if (path !== `${prefix}/` && path !== prefix && !path.startsWith(`${prefix}/`)) continue;
    paths[path] = item;
    open.push(item);
  }
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null) continue;
    const name = typeof node.$ref === 'string' ? node.$ref.replace('#/definitions/', '') : undefined;
    if (name !== undefined && !(name in definitions) && document.definitions?.[name] !== undefined) {
      definitions[name] = document.definitions[name];
      open.push(definitions[name]);
    }
    open.push(...Object.values(node));
  }
  return { paths, definitions };
}

function get(backend: Backend, api: RemoteApi, path: string, etag?: string) {
  const headers = { accept: 'application/json', ...(etag && { 'if-none-match': etag }), ...identityHeaders(AGGREGATOR) };
  return backend.fetch(api, { method: 'GET', path, headers, signal: AbortSignal.timeout(TIMEOUT_MS) }, MAX_BYTES);
}

function parsed(bytes: Buffer): Json {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
