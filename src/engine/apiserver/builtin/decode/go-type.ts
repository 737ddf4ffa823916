import { readRecordedJson } from '../recorded.ts';

/** A Go type as JSON decoding sees it. `name` is how Go's reflection prints it, which its error messages show. */
export type GoType =
  | { form: 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes' | 'any'; name: string }
  | { form: 'pointer' | 'slice' | 'map'; name: string; element: GoType }
  | { form: 'special'; name: string; definition: string }
  | { form: 'struct'; name: string; definition: string };

export interface GoField {
  json: string;
  type: GoType;
  /** When Go leaves the field out: never, when it is `empty` (a struct never is), or when it is `zero`. */
  omit: 'never' | 'empty' | 'zero';
}

type FieldRecord = [json: string, type: string, emit?: '!' | 'z'];

interface StructTable {
  structs: Record<string, FieldRecord[]>;
  named: Record<string, string>;
}

/** Structs whose JSON is not that of their fields: they bring their own marshalling in Go, and their own codec here. */
export const SPECIAL_DEFINITIONS: ReadonlySet<string> = new Set([
  'io.k8s.apimachinery.pkg.api.resource.Quantity',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
  'io.k8s.apimachinery.pkg.runtime.RawExtension',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray',
]);

let table: StructTable | undefined;
const parsedFields = new Map<string, GoField[]>();
const parsedTypes = new Map<string, GoType>();

/** Parses a recorded type expression such as `[]io.k8s.api.core.v1.Container`; the same expression gives the same object. */
export function goType(expression: string): GoType {
  let type = parsedTypes.get(expression);
  if (!type) parsedTypes.set(expression, (type = parseType(expression)));
  return type;
}

function parseType(expression: string): GoType {
  if (expression.startsWith('*')) {
    const element = goType(expression.slice(1));
    return { form: 'pointer', name: element.name, element };
  }
  if (expression === '[]byte') return { form: 'bytes', name: '[]uint8' };
  if (expression.startsWith('[]')) {
    const element = goType(expression.slice(2));
    return { form: 'slice', name: `[]${printed(element)}`, element };
  }
  if (expression.startsWith('map[')) {
    const close = expression.indexOf(']');
    const element = goType(expression.slice(close + 1));
    return { form: 'map', name: `map[${shortName(expression.slice(4, close))}]${printed(element)}`, element };
  }
  if (expression.startsWith('io.k8s.')) return parseNamed(expression);
  switch (expression) {
    case 'string':
    case 'bool':
    case 'int32':
    case 'int64':
    case 'float64':
      return { form: expression, name: expression };
    case 'int':
      return { form: 'int64', name: 'int' };
    default:
      return { form: 'any', name: expression };
  }
}

function parseNamed(definition: string): GoType {
  const name = shortName(definition);
  if (SPECIAL_DEFINITIONS.has(definition)) return { form: 'special', name, definition };
  const underlying = structTable().named[definition];
  if (underlying === undefined) return { form: 'struct', name, definition };
  return { ...goType(underlying), name };
}

function printed(type: GoType): string {
  return type.form === 'pointer' ? `*${type.name}` : type.name;
}

/** `v1.Container` from its definition name, as Go prints a type with its package. */
function shortName(definition: string): string {
  return definition.split('.').slice(-2).join('.');
}

export function fieldsOf(definition: string): GoField[] {
  let fields = parsedFields.get(definition);
  if (!fields) {
    const records = structTable().structs[definition];
    if (!records) throw new Error(`Cannot decode "${definition}": no such recorded struct; regenerate the recorded kinds`);
    fields = records.map(([json, type, emit]) => ({
      json,
      type: goType(type),
      omit: emit === '!' ? 'never' : emit === 'z' ? 'zero' : 'empty',
    }));
    parsedFields.set(definition, fields);
  }
  return fields;
}

function structTable(): StructTable {
  table ??= readRecordedJson('structs.json') as StructTable;
  return table;
}
