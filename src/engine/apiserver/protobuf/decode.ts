import type { Json } from '../../../kube/object.ts';
import { badRequestError, StatusError } from '../../../kube/status.ts';
import { readRecordedJson } from '../builtin/recorded.ts';
import { tooManyValues } from '../verbs/body-limits.ts';
import { SLICED_VALUE_LIMIT } from '../verbs/value-limits.ts';
import { WELL_KNOWN } from './well-known.ts';
import { TooManyTags, WireReader } from './wire.ts';

/**
 * Reads the protobuf bodies that generated Kubernetes clients send for built-in kinds into the JSON they stand for. Answers are
 * JSON: these clients accept both, but from 1.35 on they write protobuf without asking.
 */
type Read = (reader: WireReader, wire: number) => Json;

interface Field {
  /** '' when the fields of the message are the parent's own (an embedded struct). */
  json: string;
  read: Read;
  shape: 'single' | 'list' | 'map';
}

type Table = Record<string, [number, string, string][]>;

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const MAX_DEPTH = 200;
/** An entry of a map has three: its own, the key's and the value's. */
const TAGS_PER_VALUE = 3;

let table: Table | undefined;
let kinds: Map<string, string> | undefined;
const messages = new Map<string, Map<number, Field>>();
let depth = 0;

/** The object in a protobuf envelope. @throws StatusError BadRequest */
export function decodeProtobuf(bytes: Uint8Array, valueLimit = SLICED_VALUE_LIMIT): Json {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 4 || buffer.compare(MAGIC, 0, 4, 0, 4) !== 0) {
    throw badRequestError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  try {
    depth = 0;
    WireReader.allow(valueLimit * TAGS_PER_VALUE);
    const { apiVersion, kind, raw } = readEnvelope(new WireReader(buffer, 4));
    const definition = definitionOf(apiVersion, kind);
    if (definition === undefined) throw new Error(`no kind "${kind}" is registered for version "${apiVersion}"`);
    return { apiVersion, kind, ...readMessage(definition, new WireReader(raw)) };
  } catch (error) {
    if (error instanceof TooManyTags) throw tooManyValues(valueLimit);
    if (error instanceof StatusError) throw error;
    throw badRequestError(`unable to decode protobuf: ${(error as Error).message}`);
  }
}

function readEnvelope(reader: WireReader): { apiVersion: string; kind: string; raw: Buffer } {
  const found = { apiVersion: '', kind: '', raw: Buffer.alloc(0) };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1 && wire === 2) {
      const meta = reader.message();
      while (!meta.done) {
        const inner = meta.tag();
        if (inner.field === 1) found.apiVersion = meta.text();
        else if (inner.field === 2) found.kind = meta.text();
        else meta.skip(inner.wire);
      }
    } else if (field === 2 && wire === 2) found.raw = Buffer.from(reader.bytes());
    else reader.skip(wire);
  }
  return found;
}

function load(): Table {
  table ??= readRecordedJson('protobuf.json') as Table;
  return table;
}

function definitionOf(apiVersion: string, kind: string): string | undefined {
  if (kinds === undefined) {
    kinds = new Map();
    const schemas = readRecordedJson('resources.json') as { group: string; version: string; kind: string; definition: string }[];
    for (const { group, version, kind: name, definition } of schemas) {
      kinds.set(`${group === '' ? version : `${group}/${version}`}/${name}`, definition);
    }
    for (const [key, definition] of Object.entries(BODIES)) kinds.set(key, definition);
  }
  // Options are registered in every group: clients write them under the version of the resource.
  return kinds.get(`${apiVersion}/${kind}`) ?? kinds.get(`v1/${kind}`);
}

/** Kinds that are bodies of subresources and options, and no resource of their own. */
const BODIES: Record<string, string> = {
  'autoscaling/v1/Scale': 'io.k8s.api.autoscaling.v1.Scale',
  'policy/v1/Eviction': 'io.k8s.api.policy.v1.Eviction',
  'v1/Binding': 'io.k8s.api.core.v1.Binding',
  'authentication.k8s.io/v1/TokenRequest': 'io.k8s.api.authentication.v1.TokenRequest',
  'v1/DeleteOptions': 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  'meta.k8s.io/v1/DeleteOptions': 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  'v1/Status': 'io.k8s.apimachinery.pkg.apis.meta.v1.Status',
};

function fieldsOf(definition: string): Map<number, Field> {
  let fields = messages.get(definition);
  if (fields === undefined) {
    messages.set(definition, (fields = new Map()));
    for (const [number, json, type] of load()[definition] ?? []) fields.set(number, fieldOf(json, type));
  }
  return fields;
}

function fieldOf(json: string, type: string): Field {
  const bare = type.replace(/^\*/, '');
  if (bare === '[]byte' || bare === '[]uint8') return { json, shape: 'single', read: (reader) => reader.bytes().toString('base64') };
  if (bare.startsWith('[]')) return { json, shape: 'list', read: readerOf(bare.slice(2)) };
  if (bare.startsWith('map[string]')) return { json, shape: 'map', read: entryReader(readerOf(bare.slice('map[string]'.length))) };
  return { json, shape: 'single', read: readerOf(bare) };
}

function readerOf(type: string): Read {
  const bare = type.replace(/^\*/, '');
  switch (bare) {
    case 'string':
      return (reader) => reader.text();
    case 'bool':
      return (reader) => reader.unsigned() !== 0;
    case 'int':
    case 'int32':
    case 'int64':
    case 'uint8':
      return (reader) => reader.signed();
    case 'float64':
      return (reader) => reader.double();
    case '[]byte':
    case '[]uint8':
      return (reader) => reader.bytes().toString('base64');
    case 'strings':
      return (reader) => readStrings(reader.message());
    default:
      break;
  }
  const junction = JUNCTIONS[bare];
  if (junction !== undefined) return (reader) => readJunction(reader.message(), junction);
  const special = WELL_KNOWN[bare];
  if (special !== undefined) return (reader) => special(reader.message());
  return (reader) => readMessage(bare, reader.message());
}

function entryReader(readValue: Read): Read {
  return (reader) => {
    const entry = reader.message();
    let key = '';
    let value: Json = undefined;
    while (!entry.done) {
      const { field, wire } = entry.tag();
      if (field === 1) key = entry.text();
      else if (field === 2) value = readValue(entry, wire);
      else entry.skip(wire);
    }
    return [key, value ?? ''];
  };
}

function readStrings(reader: WireReader): string[] {
  const items: string[] = [];
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) items.push(reader.text());
    else reader.skip(wire);
  }
  return items;
}

function readMessage(definition: string, reader: WireReader): Json {
  if (++depth > MAX_DEPTH) throw new Error('proto: message is nested too deeply');
  const fields = fieldsOf(definition);
  const object: Json = {};
  while (!reader.done) {
    const { field: number, wire } = reader.tag();
    const field = fields.get(number);
    if (field === undefined) {
      reader.skip(wire);
      continue;
    }
    const value = field.read(reader, wire);
    if (field.json === '') Object.assign(object, value);
    else if (field.shape === 'list') (object[field.json] ??= []).push(value);
    else if (field.shape === 'map') define((object[field.json] ??= {}), value[0], value[1]);
    else if (value !== undefined) object[field.json] = value;
  }
  depth--;
  return object;
}

const SCHEMA = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';

/** "A schema or ..." in CRDs: whichever field is there is the value. */
const JUNCTIONS: Record<string, Record<number, 'schema' | 'schemas' | 'bool' | 'texts'> | undefined> = {
  [`${SCHEMA}OrBool`]: { 1: 'bool', 2: 'schema' },
  [`${SCHEMA}OrArray`]: { 1: 'schema', 2: 'schemas' },
  [`${SCHEMA}OrStringArray`]: { 1: 'schema', 2: 'texts' },
};

function readJunction(reader: WireReader, fields: Record<number, 'schema' | 'schemas' | 'bool' | 'texts'>): Json {
  let value: Json;
  while (!reader.done) {
    const { field, wire } = reader.tag();
    switch (fields[field]) {
      case 'schema':
        value = readMessage(SCHEMA, reader.message());
        break;
      case 'schemas':
        (value ??= []).push(readMessage(SCHEMA, reader.message()));
        break;
      case 'texts':
        (value ??= []).push(reader.text());
        break;
      case 'bool':
        value = reader.unsigned() !== 0;
        break;
      default:
        reader.skip(wire);
    }
  }
  return value;
}

/** Keys come from the client: `__proto__` is a key like any other. */
function define(target: Json, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}
