import type { Json } from '../../../../kube/object.ts';

/** A default that depends on its siblings: `input` is the object as it came, `out` holds the fields before this one in their final form. */
export type ConditionalDefault = (input: Json, out: Json) => Json;

/** A constant, or a function for what depends on siblings. */
export type FieldDefault = string | number | boolean | object | ConditionalDefault;

/** The defaults of the fields of one definition. */
export function defaultsOf(_definition: string): Record<string, FieldDefault> {
  return {};
}
