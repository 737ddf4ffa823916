import type { Json } from '../../src/kube/object.ts';
import type { Schema } from '../../src/kube/schema.ts';
import type { GoTypes } from './go-structs.ts';

/** OpenAPI v2's definitions without prose: what patches, server-side apply and typed clients read. Properties in the order of the Go fields. */
export function schemasOf(openapi: Json, go: GoTypes): Record<string, Schema> {
  const schemas: Record<string, Schema> = {};
  for (const name of Object.keys(openapi.definitions).sort()) {
    const schema = withoutProse(openapi.definitions[name]) as Schema;
    const order = go.structs.get(name)?.map((field) => field.json) ?? [];
    if (schema.properties) schema.properties = ordered(schema.properties, order);
    schemas[name] = schema;
  }
  return schemas;
}

const PROSE = new Set(['description', 'x-kubernetes-action']);

function withoutProse(node: Json): Json {
  if (Array.isArray(node)) return node.map(withoutProse);
  if (typeof node !== 'object' || node === null) return node;
  const kept: Record<string, Json> = {};
  for (const [key, value] of Object.entries<Json>(node)) {
    if (PROSE.has(key) && typeof value === 'string') continue;
    kept[key] = key === 'properties' ? mapValues(value, withoutProse) : withoutProse(value);
  }
  return kept;
}

function mapValues(record: Record<string, Json>, change: (value: Json) => Json): Record<string, Json> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

function ordered(properties: Record<string, Schema>, order: string[]): Record<string, Schema> {
  const names = [...order.filter((name) => name in properties), ...Object.keys(properties).filter((name) => !order.includes(name))];
  return Object.fromEntries(names.map((name) => [name, properties[name]]));
}

export interface StructTable {
  /** Per struct its fields: JSON name, type expression, and `!` when emitted even if empty, `z` when omitted if zero. */
  structs: Record<string, [name: string, type: string, emit?: '!' | 'z'][]>;
  named: Record<string, string>;
}

/** The Go structs reachable from the served kinds, for decoders. */
export function structTable(roots: string[], go: GoTypes): StructTable {
  const table: StructTable = { structs: {}, named: {} };
  const visit = (name: string): void => {
    if (name in table.structs || name in table.named) return;
    const named = go.named.get(name);
    if (named !== undefined) {
      table.named[name] = named;
      namesIn(named).forEach(visit);
      return;
    }
    const fields = go.structs.get(name);
    if (!fields) return;
    table.structs[name] = fields.map(({ json, type, omit }) =>
      omit === 'empty' ? [json, type] : [json, type, omit === 'zero' ? 'z' : '!'],
    );
    for (const field of fields) namesIn(field.type).forEach(visit);
  };
  roots.forEach(visit);
  return { structs: sortedByKey(table.structs), named: sortedByKey(table.named) };
}

function namesIn(type: string): string[] {
  return type.match(/io\.k8s\.[\w.-]+/g) ?? [];
}

function sortedByKey<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
