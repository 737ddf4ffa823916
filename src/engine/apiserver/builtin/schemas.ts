import type { ResolveSchema, Schema } from '../../../kube/schema.ts';
import { readRecordedJson } from './recorded.ts';

let schemas: Record<string, Schema> | undefined;

/** The schema of an OpenAPI definition, without descriptions. */
export function schemaOf(definition: string): Schema {
  schemas ??= readRecordedJson('schemas.json') as Record<string, Schema>;
  const schema = schemas[definition];
  if (!schema) throw new Error(`Cannot find the schema "${definition}": it is not among the recorded kinds; regenerate them`);
  return schema;
}

const PREFIX = '#/definitions/';

export const resolveBuiltin: ResolveSchema = (node) => {
  let resolved = node;
  while (resolved.$ref !== undefined) resolved = schemaOf(resolved.$ref.slice(PREFIX.length));
  return resolved;
};
