import type { Condition } from '../kube/conditions.ts';
import type { Schema, ValidationRule } from '../kube/schema.ts';

/**
 * The one source of a Kind's shape: the OpenAPI schema of its CRD, with the TypeScript type of the same thing inferred from it, so that
 * the two cannot drift apart.
 */
export interface SchemaSource<T> {
  readonly schema: Schema;
  /** Never present: carries the type. */
  readonly valueType?: T;
}

/** The TypeScript type of what a schema source describes. */
export type ValueOf<S> = S extends SchemaSource<infer T> ? T : never;

type Fields = Record<string, SchemaSource<unknown>>;
type ObjectValue<R extends Fields, O extends Fields> = { [K in keyof R]: ValueOf<R[K]> } & { [K in keyof O]?: ValueOf<O[K]> };

export function text(constraints: Schema = {}): SchemaSource<string> {
  return { schema: { type: 'string', ...constraints } };
}

export function oneOf<const V extends string>(values: readonly V[], constraints: Schema = {}): SchemaSource<V> {
  return { schema: { type: 'string', enum: [...values], ...constraints } };
}

export function integer(constraints: Schema = {}): SchemaSource<number> {
  return { schema: { type: 'integer', format: 'int32', ...constraints } };
}

export function boolean(constraints: Schema = {}): SchemaSource<boolean> {
  return { schema: { type: 'boolean', ...constraints } };
}

/** RFC 3339, whole seconds. */
export function time(constraints: Schema = {}): SchemaSource<string> {
  return { schema: { type: 'string', format: 'date-time', ...constraints } };
}

const QUANTITY = '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

export function quantity(): SchemaSource<string | number> {
  return { schema: { anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: QUANTITY, 'x-kubernetes-int-or-string': true } };
}

/** A quantity that is not below zero. */
export function amount(): SchemaSource<string | number> {
  return { schema: { ...quantity().schema, pattern: QUANTITY.replace('(\\+|-)?', '\\+?'), minimum: 0 } };
}

export function list<T>(items: SchemaSource<T>, constraints: Schema = {}): SchemaSource<T[]> {
  return { schema: { type: 'array', items: items.schema, ...constraints } };
}

export function mapOf<T>(values: SchemaSource<T>, constraints: Schema = {}): SchemaSource<Record<string, T>> {
  return { schema: { type: 'object', additionalProperties: values.schema, ...constraints } };
}

/** An object with the fields that must be there and those that may. */
export function object<R extends Fields, O extends Fields>(
  required: R,
  optional: O,
  constraints: Schema = {},
): SchemaSource<ObjectValue<R, O>> {
  const fields = Object.entries({ ...required, ...optional });
  const names = Object.keys(required);
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map(([name, field]) => [name, field.schema])),
      ...(names.length > 0 ? { required: names } : {}),
      ...constraints,
    },
  };
}

/** A type of Kubernetes itself, by its name in the OpenAPI documents; the build puts its whole schema in place of the reference. */
export function kubernetesType<T>(name: string, constraints: Schema = {}): SchemaSource<T> {
  return { schema: { $ref: `#/components/schemas/${name}`, ...constraints } };
}

export function rules(...validations: ValidationRule[]): Pick<Schema, 'x-kubernetes-validations'> {
  return { 'x-kubernetes-validations': validations };
}

export function conditions({ maxItems = 16 } = {}): SchemaSource<Condition[]> {
  const condition = object(
    {
      lastTransitionTime: time(),
      message: text({ maxLength: 32_768 }),
      reason: text({ minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
      status: oneOf(['True', 'False', 'Unknown']),
      type: text({
        maxLength: 316,
        pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
      }),
    },
    { observedGeneration: integer({ format: 'int64', minimum: 0 }) },
  );
  return list(condition as SchemaSource<Condition>, {
    maxItems,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  });
}
