import type { Schema } from '../kube/schema.ts';

/** What a CRD's schema may say; the rest of what OpenAPI documents say about built-in kinds is left out. */
const LEFT_OUT = new Set([
  '$ref',
  'description',
  'allOf',
  'x-kubernetes-patch-strategy',
  'x-kubernetes-patch-merge-key',
  'x-kubernetes-unions',
]);

/** The labels and annotations of an embedded object; other metadata has no meaning there. */
const EMBEDDED_METADATA: Schema = {
  type: 'object',
  properties: {
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    name: { type: 'string' },
  },
};

/**
 * Puts the schemas of Kubernetes' own types in place of the references to them, in the form that a CRD needs: inline, and without
 * what only built-in kinds may say.
 */
export function structuralSchema(schema: Schema, components: Record<string, Schema>): Schema {
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
  if (reference === undefined) return inlined(schema, components);
  const name = reference.replace('#/components/schemas/', '');
  const target = WELL_KNOWN[name] ?? (name === VOLUME_SOURCE ? volumeSource(components) : components[name]);
  if (target === undefined) throw new Error(`Cannot make a schema of "${name}": the documents of Kubernetes do not have it`);
  const { $ref: _reference, allOf: _all, default: fallback, ...own } = schema;
  const resolved = structuralSchema(target, components);
  return { ...resolved, ...inlined({ ...own, default: fallback }, components) };
}

/** The documents have it only as part of a Volume, which adds the name. */
const VOLUME_SOURCE = 'io.k8s.api.core.v1.VolumeSource';

function volumeSource(components: Record<string, Schema>): Schema | undefined {
  const volume = components['io.k8s.api.core.v1.Volume'];
  if (volume === undefined) return undefined;
  const { name: _name, ...properties } = volume.properties ?? {};
  const { required: _required, ...rest } = volume;
  return { ...rest, properties };
}

const WELL_KNOWN: Record<string, Schema> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': EMBEDDED_METADATA,
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  },
};

function inlined(schema: Schema, components: Record<string, Schema>): Schema {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (LEFT_OUT.has(key) || (key === 'x-kubernetes-list-type' && value === 'atomic')) continue;
    if (key === 'default' && isZeroValue(value)) continue;
    result[key] = value;
  }
  if (schema.properties !== undefined) {
    result['properties'] = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, structuralSchema(field, components)]),
    );
  }
  if (schema.items !== undefined) {
    result['items'] = withKeyDefaults(structuralSchema(schema.items, components), schema['x-kubernetes-list-map-keys'] ?? []);
  }
  if (typeof schema.additionalProperties === 'object') {
    result['additionalProperties'] = structuralSchema(schema.additionalProperties, components);
  }
  return result;
}

/** The keys of a list must be there: those that may be left out need their zero value as a default. */
function withKeyDefaults(items: Schema, keys: string[]): Schema {
  const lacking = keys.filter((key) => !items.required?.includes(key) && items.properties?.[key]?.default === undefined);
  if (lacking.length === 0) return items;
  return {
    ...items,
    properties: { ...items.properties, ...Object.fromEntries(lacking.map((key) => [key, { ...items.properties?.[key], default: '' }])) },
  };
}

/** How Go's zero values are written in the documents; in a CRD such a default would put the field in. */
function isZeroValue(value: unknown): boolean {
  return value === undefined || value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
