import type { Json } from '../../../../kube/object.ts';
import { canonicalMicroTime, canonicalTime, timeError } from '../../../../kube/time.ts';
import { isInteger } from './codec.ts';
import { fieldsOf, type GoType } from './go-type.ts';
import { quantityError } from './quantity.ts';

/** Where the walk is: the innermost struct and the JSON names of the fields that lead here, as Go's decoder keeps them. */
interface Place {
  struct: string;
  fields: string[];
}

/** The first wrong type in the order of the document, in the words of Go's JSON decoder. */
export function explainMismatch(type: GoType, value: Json): string | undefined {
  return explain(type, value, { struct: '', fields: [] });
}

function explain(type: GoType, value: Json, at: Place): string | undefined {
  if (value === null || value === undefined) return undefined;
  switch (type.form) {
    case 'pointer':
      return explain(type.element, value, at);
    case 'struct':
      return isObject(value) ? explainFields(type.definition, value, at) : wrongType(value, type.name, at);
    case 'map':
      return isObject(value) ? firstOf(Object.values(value), type.element, at) : wrongType(value, type.name, at);
    case 'slice':
      return Array.isArray(value) ? firstOf(value, type.element, at) : wrongType(value, type.name, at);
    case 'special':
      return explainSpecial(type.definition, value, at);
    case 'string':
      return typeof value === 'string' ? undefined : wrongType(value, type.name, at);
    case 'bool':
      return typeof value === 'boolean' ? undefined : wrongType(value, type.name, at);
    case 'int32':
    case 'int64':
      return explainInteger(type, value, at);
    case 'float64':
      return typeof value === 'number' ? undefined : wrongType(value, type.name, at);
    case 'bytes':
      return typeof value === 'string' ? base64Error(value) : wrongType(value, type.name, at);
    case 'any':
    default:
      return undefined;
  }
}

function isObject(value: Json): boolean {
  return typeof value === 'object' && !Array.isArray(value);
}

function explainFields(definition: string, value: Json, at: Place): string | undefined {
  const fields = fieldsOf(definition);
  const struct = definition.slice(definition.lastIndexOf('.') + 1);
  for (const key of Object.keys(value)) {
    const field = fields.find((candidate) => candidate.json === key);
    const found = field && explain(field.type, value[key], { struct, fields: [...at.fields, key] });
    if (found) return found;
  }
  return undefined;
}

function firstOf(values: Json[], type: GoType, at: Place): string | undefined {
  for (const value of values) {
    const found = explain(type, value, at);
    if (found) return found;
  }
  return undefined;
}

function explainInteger(type: GoType, value: Json, at: Place): string | undefined {
  if (typeof value !== 'number') return wrongType(value, type.name, at);
  return isInteger(value, type.form === 'int32' ? 2 ** 31 : 2 ** 63) ? undefined : wrongType(value, type.name, at, `number ${value}`);
}

function wrongType(value: Json, name: string, at: Place, shown: string = jsonType(value)): string {
  const target = at.struct === '' ? `Go value of type ${name}` : `Go struct field ${at.struct}.${at.fields.join('.')} of type ${name}`;
  return `json: cannot unmarshal ${shown} into ${target}`;
}

function jsonType(value: Json): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function base64Error(value: string): string | undefined {
  const text = value.replaceAll(/[\r\n]/g, '');
  const wrong = /[^A-Za-z0-9+/]/.exec(text.replace(/={1,2}$/, (padding) => 'A'.repeat(padding.length)));
  if (wrong) return `illegal base64 data at input byte ${wrong.index}`;
  return text.length % 4 === 0 ? undefined : `illegal base64 data at input byte ${text.length - (text.length % 4)}`;
}

function explainSpecial(definition: string, value: Json, at: Place): string | undefined {
  switch (definition.slice(definition.lastIndexOf('.') + 1)) {
    case 'Time':
    case 'MicroTime':
      return explainTime(value, definition.endsWith('MicroTime'), at);
    case 'Quantity':
      return explainQuantity(value);
    case 'IntOrString':
      if (typeof value === 'string' || isInteger(value, 2 ** 31)) return undefined;
      return wrongType(value, 'int32', at, typeof value === 'number' ? `number ${value}` : jsonType(value));
    case 'JSONSchemaPropsOrBool':
      return typeof value === 'boolean' || isObject(value) ? explainSchema(value) : 'boolean or JSON schema expected';
    default:
      return explainSchema(value);
  }
}

function explainSchema(value: Json): string | undefined {
  const schema: GoType = {
    form: 'struct',
    name: 'v1.JSONSchemaProps',
    definition: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps',
  };
  if (Array.isArray(value)) return firstOf(value, schema, { struct: '', fields: [] });
  return isObject(value) ? explain(schema, value, { struct: '', fields: [] }) : undefined;
}

const TIME_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

function explainTime(value: Json, micro: boolean, at: Place): string | undefined {
  if (typeof value !== 'string') return wrongType(value, 'string', at);
  if (canonicalTime(value) === undefined) return micro ? timeError(value).replace(TIME_LAYOUT, MICRO_LAYOUT) : timeError(value);
  if (!micro || canonicalMicroTime(value) !== undefined) return undefined;
  return `parsing time ${JSON.stringify(value)} as "${MICRO_LAYOUT}": cannot parse ${JSON.stringify(value.slice(19))} as ".000000"`;
}

function explainQuantity(value: Json): string | undefined {
  return quantityError(typeof value === 'string' ? value : JSON.stringify(value));
}
