import { toApiVersion, type Json, type KubeObject } from '../../../kube/object.ts';
import { badRequestError, failure } from '../../../kube/status.ts';
import { parseStrictInSlices } from '../../../kube/json-parse-slices.ts';
import { copyInSlices, weigh } from '../../../kube/json-slices.ts';
import { deepCopy } from '../../../kube/json-value.ts';
import { JsonSyntaxError, parseStrict } from '../../../kube/strict-json.ts';
import type { ApiRequest } from '../chain/request.ts';
import type { Resource } from '../registry/resource.ts';
import { runInSlices } from '../schema/slices.ts';
import { breathe, measureJson, measureValue, NOTICEABLE_VALUES, UNMEASURED_BYTES } from './body-limits.ts';
import { bodyLimit, refuseExcess, systemLimit } from './value-limits.ts';

/** A body as it came, and what a strict reader says about the keys that it names twice. */
export interface ParsedBody {
  value: Json;
  duplicates: string[];
  /** Go reads YAML twice, and the strict reading comes first. */
  isYaml?: boolean;
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const ACCEPTED = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

/** Reads a body as JSON, YAML or, for built-in kinds, protobuf: what generated clients write from 1.35 on. @throws StatusError */
export async function readBody(request: ApiRequest, resource?: Resource): Promise<ParsedBody> {
  const type = mediaType(request.body.contentType);
  if (type !== '' && type !== 'application/json' && type !== 'application/yaml' && type !== PROTOBUF) {
    throw failure(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${ACCEPTED}`,
      {},
    );
  }
  const body = await request.body.read();
  if ('value' in body) return ownValue(body.value, request);
  const parsed = await parseBody(type, body.bytes, request, resource);
  if (request.large) await refuseExcess(resource, request, parsed.value);
  return parsed;
}

async function parseBody(type: string, bytes: Uint8Array, request: ApiRequest, resource?: Resource): Promise<ParsedBody> {
  if (type === 'application/yaml') return parseYaml(bytes, request, resource);
  if (type !== PROTOBUF) return parseJson(bytes, request, resource);
  const { decodeProtobuf } = await import('../protobuf/decode.ts');
  const limit = systemLimit(resource);
  const value = decodeProtobuf(bytes, limit);
  request.large = measureValue(value, bytes.byteLength, limit);
  return { value, duplicates: [] };
}

/** A private copy of what a client in this process sent. */
export function ownValue(value: Json, request: ApiRequest): ParsedBody | Promise<ParsedBody> {
  if (weigh(value, NOTICEABLE_VALUES) <= NOTICEABLE_VALUES) return { value: deepCopy(value), duplicates: [] };
  request.large = true;
  return runInSlices(copyInSlices(value)).then((copy) => ({ value: copy, duplicates: [] }));
}

export function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';');
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

/** Large bodies are measured before anything is made of them. @throws StatusError */
export async function parseJson(
  bytes: Uint8Array,
  request: ApiRequest,
  resource?: Resource,
  limit = bodyLimit(resource),
): Promise<ParsedBody> {
  if (bytes.byteLength > UNMEASURED_BYTES && (await measureJson(bytes, limit))) {
    request.large = true;
    await breathe();
  }
  const duplicates: string[] = [];
  const onDuplicate = (path: string): void => void duplicates.push(`duplicate field "${path}"`);
  try {
    const value: Json = request.large
      ? await runInSlices(parseStrictInSlices(bytes, { onDuplicate }))
      : parseStrict(bytes, { onDuplicate });
    return { value, duplicates };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequestError(`couldn't get version/kind; json parse error: ${error.message}`);
  }
}

export async function parseYaml(bytes: Uint8Array, request: ApiRequest, resource?: Resource): Promise<ParsedBody> {
  const { yamlToJson } = await import('./yaml-thread.ts');
  const { json, duplicates } = await yamlToJson(bytes);
  return { ...(await parseJson(json, request, resource)), duplicates, isYaml: true };
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/**
 * The typed object out of a parsed body: kind and version checked, defaults applied, unknown and doubled fields refused,
 * reported or dropped as the client asked.
 */
export function decodeBody(
  resource: Resource,
  body: ParsedBody,
  validation: string | undefined,
  warn: (text: string) => void,
  large = false,
): KubeObject | Promise<KubeObject> {
  const object = withTypeMeta(resource, body.value);
  const findings: string[] = [];
  const strictness = (validation ?? 'Warn') as FieldValidation;
  const collect =
    strictness === 'Ignore'
      ? undefined
      : (path: string) => void (findings.length < MAX_FINDINGS && findings.push(`unknown field "${path}"`));
  const finish = (decoded: KubeObject): KubeObject => {
    if (strictness !== 'Ignore')
      report(resource, body.isYaml ? [...body.duplicates, ...findings] : [...findings, ...body.duplicates], strictness, warn);
    return decoded;
  };
  const { decodeLarge } = resource.strategy;
  if (large && decodeLarge !== undefined)
    return breathe()
      .then(() => decodeLarge(object, resource.version, collect))
      .then(finish);
  return finish(resource.strategy.decode(object, resource.version, collect));
}

/** What mutating admission made of an object, in its canonical form again. */
export function decodeAdmitted(resource: Resource, object: KubeObject, large: boolean): KubeObject | Promise<KubeObject> {
  const { decodeLarge } = resource.strategy;
  return large && decodeLarge !== undefined ? decodeLarge(object, resource.version) : resource.strategy.decode(object, resource.version);
}

/** A hundred unknown fields tell as much as a hundred thousand. */
const MAX_FINDINGS = 100;

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
