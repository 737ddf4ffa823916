import type { Schema } from '../../../kube/schema.ts';
import type { Json } from '../../../kube/object.ts';
import type { Resource } from '../registry/resource.ts';
import type { Ignored } from './field-difference.ts';
import { typeOfSchema, type MapType, type ValueType } from './value-type.ts';

const text: Schema = { type: 'string' };
const texts: Schema = { type: 'object', additionalProperties: text };

/** Custom kinds leave metadata to the server, so its lists are typed here. */
const OBJECT_META: Schema = {
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string', format: 'date-time' },
    deletionTimestamp: { type: 'string', format: 'date-time' },
    deletionGracePeriodSeconds: { type: 'integer' },
    labels: texts,
    annotations: texts,
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
        'x-kubernetes-map-type': 'atomic',
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
    },
    finalizers: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    managedFields: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'atomic' },
  },
};

const inline = (node: Schema): Schema => node;

/** What field ownership needs to know of a kind, worked out once. */
export interface ObjectType {
  readonly type: ValueType;
  /** What an object of the kind holds before anything is set. In Go, structs and required lists are there from the start. */
  readonly empty: Json;
  /** Fields that cannot be owned through a subresource ('' is the object itself): the server's own, and what the subresource resets. */
  readonly ignored: (subresource: string) => Ignored;
  /** Only what a subresource resets. */
  readonly reset: (subresource: string) => Ignored;
}

const OWNED_BY_SERVER = {
  name: true,
  namespace: true,
  creationTimestamp: true,
  selfLink: true,
  uid: true,
  clusterName: true,
  generation: true,
  managedFields: true,
  resourceVersion: true,
} as const;

function withReset(tree: Record<string, true | Ignored>, resetFields: readonly string[] | undefined): Ignored {
  for (const path of resetFields ?? []) {
    const names = path.split('.');
    let level: Record<string, true | Ignored> = tree;
    for (const name of names.slice(0, -1)) {
      const below = level[name] ?? {};
      if (below === true) break;
      level[name] = below;
      level = below;
    }
    level[names[names.length - 1]] = true;
  }
  return tree;
}

/** The type of a whole custom object: its own schema, with metadata typed. */
function customType(type: ValueType): ValueType {
  const metadata = { element: 'f:metadata', type: typeOfSchema(OBJECT_META, inline) };
  const declared = type.map;
  const map: MapType = {
    atomic: false,
    field: (name) => (name === 'metadata' ? metadata : declared?.field(name)),
    get additional() {
      return declared?.additional;
    },
  };
  return { map };
}

function once(make: (subresource: string) => Ignored): (subresource: string) => Ignored {
  const made = new Map<string, Ignored>();
  return (subresource) => {
    let tree = made.get(subresource);
    if (tree === undefined) made.set(subresource, (tree = make(subresource)));
    return tree;
  };
}

const known = new WeakMap<Schema, ObjectType>();

export function objectTypeOf(resource: Resource): ObjectType {
  const { schema, resolve, strategy } = resource;
  let found = known.get(schema);
  if (found === undefined) {
    const type = typeOfSchema(schema, resolve);
    const metadata = resolve(schema).properties?.metadata;
    const isCustom = metadata?.$ref === undefined && metadata?.allOf === undefined;
    const resets = strategy.resetFields;
    found = {
      type: isCustom ? customType(type) : type,
      empty: resource.empty?.() ?? {},
      ignored: once((name) => withReset({ apiVersion: true, kind: true, metadata: { ...OWNED_BY_SERVER } }, resets[name])),
      reset: once((name) => withReset({}, resets[name])),
    };
    known.set(schema, found);
  }
  return found;
}
