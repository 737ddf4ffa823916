import { setField } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import type { Schema } from '../../../kube/schema.ts';
import { Pace, runToEnd, type Sliced } from '../schema/slices.ts';
import type { CrdSchema } from '../schema/structural.ts';
import { isConditionTrue, type CustomResourceDefinition, type DefinitionVersion } from './definition.ts';

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

/** OpenAPI as the server publishes it for one version of a custom resource: the object's and the list's definitions by name. */
export function* openApiSchemas(definition: CustomResourceDefinition, name: string, form: 'v2' | 'v3'): Sliced<Record<string, Schema>> {
  const { group, names } = definition.spec;
  const version = definition.spec.versions.find((candidate) => candidate.name === name);
  if (version === undefined) throw new Error(`Cannot publish version "${name}" of "${definition.metadata.name}": there is no such version`);
  const listKind = names.listKind ?? `${names.kind}List`;
  return {
    [modelName(group, name, names.kind)]: yield* objectSchema(definition, version, form),
    [modelName(group, name, listKind)]: listSchema(definition, version, listKind, form),
  };
}

/** The schema that generic verbs use: references go to the recorded definitions of built-in kinds. */
export function resourceSchema(definition: CustomResourceDefinition, version: DefinitionVersion): Schema {
  return runToEnd(objectSchema(definition, version, 'internal'));
}

function* objectSchema(definition: CustomResourceDefinition, version: DefinitionVersion, form: Form): Sliced<Schema> {
  const { group, names, preserveUnknownFields } = definition.spec;
  const structural = structuralOf(definition, version.schema?.openAPIV3Schema);
  let schema: Schema = { type: 'object' };
  const opaque = form === 'v2' && (structural?.['x-kubernetes-preserve-unknown-fields'] === true || preserveUnknownFields === true);
  if (structural !== undefined && !opaque) {
    schema = { ...(yield* publish(structural, form, new Pace())) };
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

/** The schema to publish. One that is not structural says nothing reliable, and is not published. */
function structuralOf(definition: CustomResourceDefinition, schema: CrdSchema | undefined): CrdSchema | undefined {
  return schema && !isConditionTrue(definition, 'NonStructuralSchema') ? schema : undefined;
}

const DROPPED = ['externalDocs', 'example'] as const;
const INT_OR_STRING: Schema[] = [{ type: 'integer' }, { type: 'string' }];

/**
 * A structural node as it is published: itself where nothing changes, so that a large schema is not held twice. OpenAPI v2 knows
 * neither junctors nor null, and kubectl stumbles over half-known types.
 */
function* publish(schema: CrdSchema, form: Form, pace: Pace): Sliced<Schema> {
  if (pace.tick()) yield;
  const changes: Record<string, Json> = {};
  if (form === 'v2') restrictToV2(schema, changes);
  else if (form === 'v3') publishJunctors(changes, schema);
  for (const name of DROPPED) if (schema[name] !== undefined) changes[name] = undefined;
  yield* publishBelow(schema, changes, form, pace);
  if (schema['x-kubernetes-embedded-resource'] && !(form === 'v2' && schema['x-kubernetes-preserve-unknown-fields'])) {
    embed(schema, changes, form);
  }
  return Object.keys(changes).length === 0 ? schema : merged(schema, changes);
}

function merged(schema: CrdSchema, changes: Record<string, Json>): Schema {
  const out: Record<string, Json> = { ...schema, ...changes };
  for (const name of Object.keys(changes)) if (changes[name] === undefined) delete out[name];
  return out;
}

function* publishBelow(schema: CrdSchema, changes: Record<string, Json>, form: Form, pace: Pace): Sliced<void> {
  if (schema.properties && !('properties' in changes)) {
    let properties: Record<string, Schema> | undefined;
    for (const name of Object.keys(schema.properties)) {
      const published = yield* publish(schema.properties[name], form, pace);
      if (published === schema.properties[name]) continue;
      properties ??= { ...schema.properties };
      setField(properties, name, published);
    }
    if (properties !== undefined) changes.properties = properties;
  }
  if (schema.items && !('items' in changes)) {
    const items = yield* publish(schema.items, form, pace);
    if (items !== schema.items) changes.items = items;
  }
  const additional = schema.additionalProperties;
  if (typeof additional === 'object' && additional !== null) {
    const published = yield* publish(additional, form, pace);
    if (published !== additional) changes.additionalProperties = published;
  }
}

function restrictToV2(schema: CrdSchema, changes: Record<string, Json>): void {
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  for (const name of ['allOf', 'anyOf', 'oneOf', 'not'] as const) if (schema[name] !== undefined) changes[name] = undefined;
  if (schema.nullable) [changes.type, changes.nullable] = [undefined, undefined];
  if (schema.nullable || preserves) {
    if (schema.properties !== undefined) changes.properties = undefined;
    if (schema.items !== undefined) changes.items = undefined;
  }
  const type = 'type' in changes ? undefined : schema.type;
  const items = 'items' in changes ? undefined : schema.items;
  if ((!items && type === 'array') || (preserves && type === 'object')) changes.type = undefined;
  dropNullableRequired(changes, schema, 'properties' in changes ? undefined : schema.properties);
}

/** An int-or-string says so in words that others understand. */
function publishJunctors(out: Record<string, Json>, schema: CrdSchema): void {
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
  if (kept.length < schema.required.length) out.required = kept.length === 0 ? undefined : kept;
}

function embed(schema: CrdSchema, changes: Record<string, Json>, form: Form): void {
  const metadata = reference(`${META}.ObjectMeta`, METADATA_DESCRIPTION, form);
  const properties: Record<string, Schema> | undefined = 'properties' in changes ? changes.properties : schema.properties;
  changes.properties = { ...properties, apiVersion: EMBEDDED_API_VERSION, kind: EMBEDDED_KIND, metadata };
  const required: string[] | undefined = 'required' in changes ? changes.required : schema.required;
  changes.required = [...new Set([...(required ?? []), 'kind', 'apiVersion'])];
}
