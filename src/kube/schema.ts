import type { Json } from './object.ts';

/**
 * An OpenAPI v3 schema node with Kubernetes' extensions, the one description of an object's shape that decoding, pruning,
 * defaulting, strategic merge, server-side apply and OpenAPI publishing all read. Built-in kinds refer to each other by
 * `$ref`; schemas of CRDs are inline.
 */
export interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  nullable?: boolean;
  default?: Json;
  enum?: Json[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-unions'?: Json[];
  'x-kubernetes-validations'?: ValidationRule[];
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
}

export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** Follows `$ref`s (a lone `$ref` or one wrapped in a single `allOf`, as OpenAPI v3 writes it) to the node that says something. */
export type ResolveSchema = (node: Schema) => Schema;

export const resolveInline: ResolveSchema = (node) => node;
