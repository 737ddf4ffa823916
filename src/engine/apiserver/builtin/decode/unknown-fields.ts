import type { Json } from '../../../../kube/object.ts';
import type { Pace, Sliced } from '../../schema/slices.ts';
import { fieldsOf, type GoType } from './go-type.ts';

const namesByDefinition = new Map<string, Map<string, GoType>>();

function typesOf(definition: string): Map<string, GoType> {
  let types = namesByDefinition.get(definition);
  if (!types) namesByDefinition.set(definition, (types = new Map(fieldsOf(definition).map((field) => [field.json, field.type]))));
  return types;
}

/** Names every field that its type does not have, as Kubernetes' strict decoding does: `spec.containers[0].imagee`. */
export function* reportUnknownFields(type: GoType, value: Json, report: (path: string) => void, pace: Pace, path = ''): Sliced<void> {
  if (typeof value !== 'object' || value === null) return;
  if (pace.tick()) yield;
  if (type.form === 'pointer') yield* reportUnknownFields(type.element, value, report, pace, path);
  else if (type.form === 'slice') {
    for (let i = 0; i < value.length; i += 1) yield* reportUnknownFields(type.element, value[i], report, pace, `${path}[${i}]`);
  } else if (type.form === 'map') {
    if (type.element.form === 'string') return;
    for (const key of Object.keys(value)) yield* reportUnknownFields(type.element, value[key], report, pace, join(path, key));
  } else if (type.form === 'struct') {
    const types = typesOf(type.definition);
    for (const key of Object.keys(value)) {
      const known = types.get(key);
      if (known) yield* reportUnknownFields(known, value[key], report, pace, join(path, key));
      else report(join(path, key));
    }
  }
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
