import type { ResolveSchema, Schema } from '../../../../kube/schema.ts';
import { unescapeFieldName } from '../../cel/field-names.ts';
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, listOf, mapOf, STRING, struct, TIMESTAMP, type CelType } from '../../cel/types.ts';

const TYPE_META: Record<string, Schema> = { apiVersion: { type: 'string' }, kind: { type: 'string' } };

/** The CEL type of what a schema describes. Fields are looked at when an expression asks for them, so recursion costs nothing. */
export function schemaType(schema: Schema, resolve: ResolveSchema, name: string, isResource = false): CelType {
  const node = resolve(schema);
  if (node['x-kubernetes-int-or-string'] || node['x-kubernetes-preserve-unknown-fields']) return DYN;
  switch (node.type) {
    case 'boolean':
      return BOOL;
    case 'integer':
      return INT;
    case 'number':
      return DOUBLE;
    case 'string':
      return stringType(node.format);
    case 'array':
      return listOf(node.items ? schemaType(node.items, resolve, `${name}.@idx`) : DYN);
    case 'object':
    case undefined:
      return objectType(node, resolve, name, isResource);
    default:
      return DYN;
  }
}

function stringType(format: string | undefined): CelType {
  if (format === 'byte') return BYTES;
  if (format === 'duration') return DURATION;
  if (format === 'int-or-string' || format === 'quantity') return DYN;
  return format === 'date' || format === 'date-time' ? TIMESTAMP : STRING;
}

function objectType(node: Schema, resolve: ResolveSchema, name: string, isResource: boolean): CelType {
  const { additionalProperties, properties } = node;
  if (typeof additionalProperties === 'object') return mapOf(STRING, schemaType(additionalProperties, resolve, `${name}.@elem`));
  if (!properties && !isResource) return DYN;
  const fields: Record<string, Schema> = isResource ? { ...TYPE_META, ...properties } : properties!;
  return struct(name, {
    find(escaped) {
      const field = unescapeFieldName(escaped);
      if (field === undefined || !Object.hasOwn(fields, field)) return undefined;
      return schemaType(fields[field], resolve, `${name}.${field}`);
    },
  });
}
