import type { Json } from '../../../../kube/object.ts';
import { fieldsOf, type GoField, type GoType } from './go-type.ts';

/** What Go prints for an empty value of a definition, without any default: structs held by value are there, and so is what is never left out. */
export function emptyObject(definition: string): Json {
  return emptyStruct(definition);
}

function emptyStruct(definition: string): Record<string, Json> {
  const empty: Record<string, Json> = {};
  for (const field of fieldsOf(definition)) {
    const value = emptyField(field);
    if (value !== undefined) empty[field.json] = value;
  }
  return empty;
}

function emptyField({ type, omit }: GoField): Json {
  if (omit === 'zero') return undefined;
  if (type.form === 'struct') return emptyStruct(type.definition);
  return omit === 'never' || type.form === 'special' ? zero(type) : undefined;
}

const ZERO_SCALARS: Partial<Record<GoType['form'], Json>> = { string: '', bool: false, int32: 0, int64: 0, float64: 0 };

function zero(type: GoType): Json {
  if (type.form === 'struct') return emptyStruct(type.definition);
  return type.form === 'special' ? specialZero(type.definition) : (ZERO_SCALARS[type.form] ?? null);
}

function specialZero(definition: string): Json {
  if (definition.endsWith('.Quantity')) return '0';
  return definition.endsWith('.IntOrString') ? 0 : null;
}
