import { definitions } from './definitions.ts';
import { customResourceDefinition } from './kind-definition.ts';
import { structuralSchema } from './structural-schema.ts';
import type { Schema } from '../kube/schema.ts';

/** The CRDs of all our Kinds, given the component schemas of Kubernetes' OpenAPI document of the core group. */
export function customResourceDefinitions(components: Record<string, Schema>) {
  return definitions.map((definition) => customResourceDefinition(definition, (schema) => structuralSchema(schema, components)));
}
