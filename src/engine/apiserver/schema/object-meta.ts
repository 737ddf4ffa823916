import type { Json } from '../../../kube/object.ts';
import { isJsonObject } from '../../../kube/json-value.ts';

/**
 * Reads metadata as Go reads JSON into ObjectMeta: wrong types are refused in the words of encoding/json, unknown fields dropped
 * and reported, nulls dropped.
 */
export class MetadataTypeError extends Error {}

type Reader = (value: Json, path: string, unknown: (path: string) => void, type: string) => Json;

function jsonKind(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}

function refuse(value: Json, path: string, type: string): never {
  const kind = typeof value === 'number' && type.startsWith('int') ? `number ${value}` : jsonKind(value);
  throw new MetadataTypeError(`json: cannot unmarshal ${kind} into Go struct field ${path} of type ${type}`);
}

const readString: Reader = (value, path, _unknown, type) => (typeof value === 'string' ? value : refuse(value, path, type));
const readBoolean: Reader = (value, path, _unknown, type) => (typeof value === 'boolean' ? value : refuse(value, path, type));
const readInteger: Reader = (value, path, _unknown, type) => (Number.isInteger(value) ? value : refuse(value, path, type));
const readAny: Reader = (value) => value;

const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

const readTime: Reader = (value, path, _unknown, type) => {
  if (typeof value !== 'string') refuse(value, path, type);
  const match = TIME.exec(value);
  const time = match === null ? Number.NaN : Date.parse(value);
  if (Number.isNaN(time)) {
    throw new MetadataTypeError(
      `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`,
    );
  }
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
};

const readStringMap: Reader = (value, path, _unknown, type) => {
  if (!isJsonObject(value)) refuse(value, path, type);
  const out: Record<string, Json> = {};
  for (const name of Object.keys(value)) {
    const item = value[name] ?? '';
    out[name] = typeof item === 'string' ? item : refuse(item, path, 'string');
  }
  return out;
};

function listOf(read: Reader, itemType: string): Reader {
  return (value, path, unknown, type) => {
    if (!Array.isArray(value)) refuse(value, path, type);
    const name = path.slice(path.lastIndexOf('.') + 1);
    return value.map((item, position) =>
      item === null ? (itemType === 'string' ? '' : {}) : read(item, path, (below) => unknown(`${name}[${position}].${below}`), itemType),
    );
  };
}

/** What Go leaves out when it writes ObjectMeta. Numbers and booleans are pointers there, or never sent as zero. */
function isEmpty(value: Json, reader: Reader): boolean {
  if (value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return reader === readStringMap && Object.keys(value as object).length === 0;
}

/** @param always fields that Go writes even when they are empty */
function struct(fields: Record<string, { read: Reader; type: string }>, always: readonly string[] = []): Reader {
  return (value, path, unknown, type) => {
    if (!isJsonObject(value)) refuse(value, path, type);
    const out: Record<string, Json> = {};
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(fields, name)) {
        unknown(name);
      } else if (value[name] !== null) {
        const read = fields[name].read(value[name], `${path}.${name}`, unknown, fields[name].type);
        if (!isEmpty(read, fields[name].read)) out[name] = read;
      }
    }
    for (const name of always) out[name] ??= '';
    return out;
  };
}

const OWNER_REFERENCE = struct(
  {
    apiVersion: { read: readString, type: 'string' },
    kind: { read: readString, type: 'string' },
    name: { read: readString, type: 'string' },
    uid: { read: readString, type: 'types.UID' },
    controller: { read: readBoolean, type: 'bool' },
    blockOwnerDeletion: { read: readBoolean, type: 'bool' },
  },
  ['apiVersion', 'kind', 'name', 'uid'],
);

const MANAGED_FIELDS = struct({
  manager: { read: readString, type: 'string' },
  operation: { read: readString, type: 'v1.ManagedFieldsOperationType' },
  apiVersion: { read: readString, type: 'string' },
  time: { read: readTime, type: 'string' },
  fieldsType: { read: readString, type: 'string' },
  fieldsV1: { read: readAny, type: 'v1.FieldsV1' },
  subresource: { read: readString, type: 'string' },
});

const OBJECT_META = struct({
  name: { read: readString, type: 'string' },
  generateName: { read: readString, type: 'string' },
  namespace: { read: readString, type: 'string' },
  selfLink: { read: readString, type: 'string' },
  uid: { read: readString, type: 'types.UID' },
  resourceVersion: { read: readString, type: 'string' },
  generation: { read: readInteger, type: 'int64' },
  creationTimestamp: { read: readTime, type: 'string' },
  deletionTimestamp: { read: readTime, type: 'string' },
  deletionGracePeriodSeconds: { read: readInteger, type: 'int64' },
  labels: { read: readStringMap, type: 'map[string]string' },
  annotations: { read: readStringMap, type: 'map[string]string' },
  ownerReferences: { read: listOf(OWNER_REFERENCE, 'v1.OwnerReference'), type: '[]v1.OwnerReference' },
  finalizers: { read: listOf(readString, 'string'), type: '[]string' },
  managedFields: { read: listOf(MANAGED_FIELDS, 'v1.ManagedFieldsEntry'), type: '[]v1.ManagedFieldsEntry' },
});

/** @throws MetadataTypeError on a wrong type */
export function readObjectMeta(metadata: Json, unknown: (path: string) => void): Record<string, Json> {
  if (metadata === null || metadata === undefined) return {};
  if (!isJsonObject(metadata)) {
    throw new MetadataTypeError(`json: cannot unmarshal ${jsonKind(metadata)} into Go value of type v1.ObjectMeta`);
  }
  return OBJECT_META(metadata, 'ObjectMeta', unknown, 'v1.ObjectMeta');
}
