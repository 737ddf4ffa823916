import type { Json } from '../../../kube/object.ts';
import type { Schema } from '../../../kube/schema.ts';
import { checkStructural, unreadable, type CrdSchema } from '../schema/structural.ts';
import type { CustomResourceDefinition, DefinitionVersion } from './definition.ts';
import { schemaHas } from './update-demands.ts';

/** OpenAPI as the server publishes it for one version of a custom resource: the object's and the list's definitions by name. */
export interface PublishedSchemas {
  v2: Record<string, Schema>;
  v3: Record<string, Schema>;
}

type Form = 'v2' | 'v3' | 'internal';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';
const API_VERSION: Schema = {
  description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${CONVENTIONS}#resources`,
  type: 'string',
};
const KIND: Schema = {
  description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
  type: 'string',
};
const EMBEDDED_API_VERSION: Schema = {
  description: `apiVersion defines the versioned schema of this representation of an object. More info: ${CONVENTIONS}#resources`,
  type: 'string',
};
const EMBEDDED_KIND: Schema = {
  description: `kind is a string value representing the type of this object. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
  type: 'string',
};
const METADATA_DESCRIPTION = `Standard object's metadata. More info: ${CONVENTIONS}#metadata`;
const LIST_METADATA_DESCRIPTION = `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`;

/** The name of a definition: the group backwards, as in `io.example.v1.Widget`. */
export function modelName(group: string, version: string, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

/** A reference to a definition with a description beside it, which OpenAPI v3 allows only around it. */
function reference(name: string, description: string | undefined, form: Form): Schema {
  if (form === 'v3') {
    const target = { $ref: `#/components/schemas/${name}` };
    return description === undefined ? target : { description, allOf: [target] };
  }
  return description === undefined || form === 'internal'
    ? { $ref: `#/definitions/${name}` }
    : { description, $ref: `#/definitions/${name}` };
}

export function openApiSchemas(definition: CustomResourceDefinition, version: string): PublishedSchemas {
  return { v2: schemasOf(definition, version, 'v2'), v3: schemasOf(definition, version, 'v3') };
}

function schemasOf(definition: CustomResourceDefinition, name: string, form: Form): Record<string, Schema> {
  const { group, names } = definition.spec;
  const version = definition.spec.versions.find((candidate) => candidate.name === name);
  if (version === undefined) throw new Error(`Cannot publish version "${name}" of "${definition.metadata.name}": there is no such version`);
  const listKind = names.listKind ?? `${names.kind}List`;
  return {
    [modelName(group, name, names.kind)]: objectSchema(definition, version, form),
    [modelName(group, name, listKind)]: listSchema(definition, version, listKind, form),
  };
}

/** The schema that generic verbs use: references go to the recorded definitions of built-in kinds. */
export function resourceSchema(definition: CustomResourceDefinition, version: DefinitionVersion): Schema {
  return objectSchema(definition, version, 'internal');
}

function objectSchema(definition: CustomResourceDefinition, version: DefinitionVersion, form: Form): Schema {
  const { group, names, preserveUnknownFields } = definition.spec;
  const structural = structuralOf(version.schema?.openAPIV3Schema);
  let schema: Schema = { type: 'object' };
  const opaque = form === 'v2' && (structural?.['x-kubernetes-preserve-unknown-fields'] === true || preserveUnknownFields === true);
  if (structural !== undefined && !opaque) {
    schema = publish(structural, form);
    const metadata = reference(`${META}.ObjectMeta`, METADATA_DESCRIPTION, form);
    schema.properties = {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata,
      ...without(schema.properties, ['apiVersion', 'kind', 'metadata']),
    };
  }
  schema['x-kubernetes-group-version-kind'] = [{ group, version: version.name, kind: names.kind }];
  return withSelectableFields(schema, version, form);
}

function without(properties: Record<string, Schema> | undefined, names: string[]): Record<string, Schema> {
  return Object.fromEntries(Object.entries(properties ?? {}).filter(([name]) => !names.includes(name)));
}

function withSelectableFields(schema: Schema, version: DefinitionVersion, form: Form): Schema {
  if (form === 'internal' || !version.selectableFields?.length) return schema;
  const fields = version.selectableFields.map((field) => ({ fieldPath: field.jsonPath.replace(/^\./, '') }));
  return { ...schema, 'x-kubernetes-selectable-fields': fields } as Schema;
}

function listSchema(definition: CustomResourceDefinition, version: DefinitionVersion, listKind: string, form: Form): Schema {
  const { group, names } = definition.spec;
  const schema: Schema = {
    description: `${listKind} is a list of ${names.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: API_VERSION,
      items: {
        description: `List of ${names.plural}. More info: ${CONVENTIONS}`,
        type: 'array',
        items: reference(modelName(group, version.name, names.kind), undefined, form),
      },
      kind: KIND,
      metadata: reference(`${META}.ListMeta`, LIST_METADATA_DESCRIPTION, form),
    },
    'x-kubernetes-group-version-kind': [{ group, version: version.name, kind: listKind }],
  };
  return withSelectableFields(schema, version, form);
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

/** The schema when it is structural; others are not published. */
function structuralOf(schema: CrdSchema | undefined): CrdSchema | undefined {
  if (!schema || schemaHas(schema, (node) => Boolean(node.type) && !TYPES.has(node.type ?? ''))) return undefined;
  return unreadable(schema) === undefined && checkStructural(schema, '').length === 0 ? schema : undefined;
}

const DROPPED = new Set(['externalDocs', 'example', 'properties', 'items', 'additionalProperties', 'allOf', 'anyOf', 'oneOf', 'not']);
const INT_OR_STRING: Schema[] = [{ type: 'integer' }, { type: 'string' }];

/** A structural node as it is published. OpenAPI v2 knows neither junctors nor null, and kubectl stumbles over half-known types. */
function publish(schema: CrdSchema, form: Form): Schema {
  const out: Record<string, Json> = {};
  for (const [name, value] of Object.entries(schema)) if (!DROPPED.has(name) && value !== undefined && value !== null) out[name] = value;
  let { properties, items } = schema;
  if (form === 'v2') {
    if (schema.nullable) {
      delete out.type;
      delete out.nullable;
    }
    if (schema.nullable || schema['x-kubernetes-preserve-unknown-fields']) [properties, items] = [undefined, undefined];
    if ((!items && out.type === 'array') || (schema['x-kubernetes-preserve-unknown-fields'] && out.type === 'object')) delete out.type;
    dropNullableRequired(out, schema, properties);
  } else publishJunctors(out, schema);
  if (properties !== undefined) {
    out.properties = Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, publish(property, form)]));
  }
  if (items) out.items = publish(items, form);
  const additional = schema.additionalProperties;
  if (additional !== undefined && additional !== null) {
    out.additionalProperties = typeof additional === 'object' ? publish(additional, form) : additional;
  }
  if (schema['x-kubernetes-embedded-resource'] && !(form === 'v2' && schema['x-kubernetes-preserve-unknown-fields'])) embed(out, form);
  return out;
}

function publishJunctors(out: Record<string, Json>, schema: CrdSchema): void {
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) if (schema[name]?.length) out[name] = schema[name];
  if (schema.not) out.not = schema.not;
  if (!schema['x-kubernetes-int-or-string'] || saysIntOrString(schema.anyOf) || saysIntOrString(schema.allOf?.[0]?.anyOf)) return;
  if (schema.anyOf === undefined) out.anyOf = INT_OR_STRING;
  else out.allOf = [{ anyOf: INT_OR_STRING }, ...(schema.allOf ?? [])];
}

function saysIntOrString(anyOf: Schema[] | undefined): boolean {
  return anyOf?.length === 2 && anyOf[0].type === 'integer' && anyOf[1].type === 'string';
}

function dropNullableRequired(out: Record<string, Json>, schema: CrdSchema, properties: Record<string, Schema> | undefined): void {
  if (schema.required === undefined) return;
  const additional = schema.additionalProperties;
  const dropsAll = typeof additional === 'object' && additional !== null && additional.nullable === true;
  const kept = dropsAll ? [] : schema.required.filter((name) => properties?.[name]?.nullable !== true);
  if (kept.length === 0) delete out.required;
  else out.required = kept;
}

function embed(out: Record<string, Json>, form: Form): void {
  const metadata = reference(`${META}.ObjectMeta`, METADATA_DESCRIPTION, form);
  out.properties = { ...out.properties, apiVersion: EMBEDDED_API_VERSION, kind: EMBEDDED_KIND, metadata };
  out.required = [...new Set([...(out.required ?? []), 'kind', 'apiVersion'])];
}
