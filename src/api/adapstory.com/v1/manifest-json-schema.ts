import type { Schema } from '../../../kube/schema.ts';
import { manifest } from './plugin-manifest.ts';

/** The shape of `plugin.yaml` for editors (JSON Schema 2020-12), from the same source as the checks. */
export function manifestJsonSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'plugin.yaml',
    ...jsonSchema(manifest.schema),
  };
}

function jsonSchema(schema: Schema): object {
  const { properties, items, additionalProperties, format: _, 'x-kubernetes-int-or-string': isAmount, type, pattern, ...rest } = schema;
  const plain = Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith('x-kubernetes-')));
  if (isAmount) return { ...plain, anyOf: [{ type: 'number' }, { type: 'string', ...(pattern === undefined ? {} : { pattern }) }] };
  return {
    ...(type === undefined ? {} : { type }),
    ...(pattern === undefined ? {} : { pattern }),
    ...plain,
    ...(properties ? { properties: mapped(properties) } : {}),
    ...(items ? { items: jsonSchema(items) } : {}),
    // Unknown fields are refused wherever fields are listed.
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: jsonSchema(additionalProperties) }
      : properties
        ? { additionalProperties: false }
        : {}),
  };
}

function mapped(properties: Record<string, Schema>): object {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, jsonSchema(schema)]));
}
