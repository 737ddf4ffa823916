import type { Json } from '../../../kube/object.ts';
import type { Schema, ValidationRule } from '../../../kube/schema.ts';
import { GoStruct } from './findings.ts';
import type { CrdSchema } from './structural.ts';

/**
 * How Kubernetes prints parts of a CRD in messages: as its internal Go structs, whose fields carry the names and the order they
 * have in the source, with every unset field spelled out.
 */
export function internalRule(rule: ValidationRule): GoStruct {
  return new GoStruct(ruleFields(rule));
}

function ruleFields(rule: ValidationRule): Record<string, unknown> {
  return {
    Rule: rule.rule ?? '',
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}

export function internalSchema(schema: CrdSchema): GoStruct {
  return new GoStruct(schemaFields(schema));
}

const list = (schemas: Schema[] | undefined): unknown => schemas?.map(schemaFields) ?? null;
const orNull = (schema: Schema | undefined): unknown => (schema ? schemaFields(schema) : null);

function mapOf(schemas: Record<string, Schema> | undefined): unknown {
  if (!schemas) return null;
  const names = Object.keys(schemas).sort();
  return Object.fromEntries(names.map((name) => [name, schemaFields(schemas[name])]));
}

function boolOrSchema(value: Json): unknown {
  if (value === undefined || value === null) return null;
  return typeof value === 'boolean' ? { Allows: value, Schema: null } : { Allows: true, Schema: schemaFields(value) };
}

export function schemaFields(schema: CrdSchema): Record<string, unknown> {
  const items: Json = schema.items;
  return {
    ID: schema.id ?? '',
    Schema: schema.$schema ?? '',
    Ref: schema.$ref ?? null,
    Description: schema.description ?? '',
    Type: schema.type ?? '',
    Nullable: schema.nullable ?? false,
    Format: schema.format ?? '',
    Title: schema.title ?? '',
    Default: schema.default ?? null,
    Maximum: schema.maximum ?? null,
    ExclusiveMaximum: schema.exclusiveMaximum ?? false,
    Minimum: schema.minimum ?? null,
    ExclusiveMinimum: schema.exclusiveMinimum ?? false,
    MaxLength: schema.maxLength ?? null,
    MinLength: schema.minLength ?? null,
    Pattern: schema.pattern ?? '',
    MaxItems: schema.maxItems ?? null,
    MinItems: schema.minItems ?? null,
    UniqueItems: schema.uniqueItems ?? false,
    MultipleOf: schema.multipleOf ?? null,
    Enum: schema.enum ?? null,
    MaxProperties: schema.maxProperties ?? null,
    MinProperties: schema.minProperties ?? null,
    Required: schema.required ?? null,
    Items: items
      ? { Schema: Array.isArray(items) ? null : schemaFields(items), JSONSchemas: Array.isArray(items) ? list(items) : null }
      : null,
    AllOf: list(schema.allOf),
    OneOf: list(schema.oneOf),
    AnyOf: list(schema.anyOf),
    Not: orNull(schema.not),
    Properties: mapOf(schema.properties),
    AdditionalProperties: boolOrSchema(schema.additionalProperties),
    PatternProperties: mapOf(schema.patternProperties),
    Dependencies: schema.dependencies ?? null,
    AdditionalItems: boolOrSchema(schema.additionalItems),
    Definitions: mapOf(schema.definitions),
    ExternalDocs: schema.externalDocs ? { Description: schema.externalDocs.description ?? '', URL: schema.externalDocs.url ?? '' } : null,
    Example: schema.example ?? null,
    XPreserveUnknownFields: schema['x-kubernetes-preserve-unknown-fields'] ?? null,
    XEmbeddedResource: schema['x-kubernetes-embedded-resource'] ?? false,
    XIntOrString: schema['x-kubernetes-int-or-string'] ?? false,
    XListMapKeys: schema['x-kubernetes-list-map-keys'] ?? null,
    XListType: schema['x-kubernetes-list-type'] ?? null,
    XMapType: schema['x-kubernetes-map-type'] ?? null,
    XValidations: schema['x-kubernetes-validations']?.map(ruleFields) ?? null,
  };
}
