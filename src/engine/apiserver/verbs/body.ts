import { toApiVersion, type Json, type KubeObject } from '../../../kube/object.ts';
import { badRequestError, failure } from '../../../kube/status.ts';
import { JsonSyntaxError, parseStrict } from '../../../kube/strict-json.ts';
import type { ApiRequest } from '../chain/request.ts';
import type { Resource } from '../registry/resource.ts';

/** A body as it came, with the keys that it names twice. */
export interface ParsedBody {
  value: Json;
  duplicates: string[];
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const ACCEPTED = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

/** Reads a body as JSON, YAML or, for built-in kinds, protobuf: what generated clients write from 1.35 on. @throws StatusError */
export async function readBody(request: ApiRequest): Promise<ParsedBody> {
  const type = mediaType(request.body.contentType);
  if (type !== '' && type !== 'application/json' && type !== 'application/yaml' && type !== PROTOBUF) {
    throw failure(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${ACCEPTED}`,
      {},
    );
  }
  const body = await request.body.read();
  if ('value' in body) return { value: structuredClone(body.value), duplicates: [] };
  if (type === PROTOBUF) {
    const { decodeProtobuf } = await import('../protobuf/decode.ts');
    return { value: decodeProtobuf(body.bytes), duplicates: [] };
  }
  return type === 'application/yaml' ? parseYaml(body.bytes) : parseJson(body.bytes);
}

export function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';');
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

export function parseJson(bytes: Uint8Array): ParsedBody {
  const duplicates: string[] = [];
  try {
    return { value: parseStrict(bytes, { onDuplicate: (path) => duplicates.push(path) }), duplicates };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequestError(`couldn't get version/kind; json parse error: ${error.message}`);
  }
}

export async function parseYaml(bytes: Uint8Array): Promise<ParsedBody> {
  const { parse } = await import('yaml');
  try {
    return { value: parse(Buffer.from(bytes).toString('utf8'), { maxAliasCount: 100, uniqueKeys: false }), duplicates: [] };
  } catch (error) {
    throw badRequestError(`error converting YAML to JSON: ${(error as Error).message}`);
  }
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/**
 * The typed object out of a parsed body: kind and version checked, defaults applied, unknown and doubled fields refused,
 * reported or dropped as the client asked.
 */
export function decodeBody(resource: Resource, body: ParsedBody, validation: string | undefined, warn: (text: string) => void): KubeObject {
  const object = withTypeMeta(resource, body.value);
  const findings: string[] = [];
  const strictness = (validation ?? 'Warn') as FieldValidation;
  const collect = strictness === 'Ignore' ? undefined : (path: string) => findings.push(`unknown field "${path}"`);
  const decoded = resource.strategy.decode(object, resource.version, collect);
  if (strictness !== 'Ignore')
    report(resource, [...findings, ...body.duplicates.map((path) => `duplicate field "${path}"`)], strictness, warn);
  return decoded;
}

export function report(resource: Resource, findings: string[], strictness: FieldValidation, warn: (text: string) => void): void {
  if (findings.length === 0) return;
  if (strictness === 'Strict') {
    throw badRequestError(
      `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: strict decoding error: ${findings.join(', ')}`,
    );
  }
  for (const finding of findings) warn(finding);
}

/** Fills in apiVersion and kind where the body left them out, and refuses another kind or version than the URL's. */
export function withTypeMeta(resource: Resource, value: Json): KubeObject {
  const expected = toApiVersion(resource.group, resource.version);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw badRequestError(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  }
  const { apiVersion, kind } = value;
  if (apiVersion !== undefined && apiVersion !== '' && apiVersion !== expected) {
    throw badRequestError(`the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`);
  }
  if (kind !== undefined && kind !== '' && kind !== resource.kind) {
    throw badRequestError(
      `${String(kind)} in version "${resource.version}" cannot be handled as a ${resource.kind}: no kind "${String(kind)}" is served at this path`,
    );
  }
  value.apiVersion = expected;
  value.kind = resource.kind;
  return value;
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? 'null' : typeof value;
}
