import type { Json } from '../../../kube/object.ts';

/** One value as bytes of the field with this number, tag included. */
type Field = (number: number, value: Json) => Uint8Array;
type Message = Record<string, [number: number, field: Field]>;
type MessageName =
  | 'document'
  | 'info'
  | 'apiKey'
  | 'reference'
  | 'pathItem'
  | 'operation'
  | 'response'
  | 'bodyParameter'
  | 'headerParameter'
  | 'queryParameter'
  | 'pathParameter'
  | 'schema';

const NOTHING = new Uint8Array(0);

const LENGTH_DELIMITED = 2;
const DOUBLE = 1;
const VARINT = 0;

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

function tag(number: number, wireType: number): Uint8Array {
  return varint(number * 8 + wireType);
}

function delimited(number: number, ...parts: Uint8Array[]): Uint8Array {
  const bytes = Buffer.concat(parts);
  return Buffer.concat([tag(number, LENGTH_DELIMITED), varint(bytes.length), bytes]);
}

const string: Field = (number, value) => delimited(number, Buffer.from(String(value)));
const integer: Field = (number, value) => Buffer.concat([tag(number, VARINT), varint(Number(value))]);
const bool: Field = (number, value) => (value === true ? integer(number, 1) : NOTHING);
const double: Field = (number, value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(number, DOUBLE), bytes]);
};
/** Values of any shape travel as YAML; JSON is that. */
const any: Field = (number, value) => delimited(number, string(2, JSON.stringify(value)));
const each =
  (field: Field): Field =>
  (number, values) =>
    Buffer.concat((values as Json[]).map((value) => field(number, value)));
const strings = each(string);

/** Messages are looked up late: schemas contain schemas. */
const message =
  (name: MessageName): Field =>
  (number, value) =>
    delimited(number, encodeMessage(name, value));

/** A map from names, which gnostic spells as a message with a list of named values. */
const named =
  (field: Field, inside = 1): Field =>
  (number, value) => {
    const entries = Object.entries(value as Record<string, Json>);
    return delimited(number, Buffer.concat(entries.map(([name, entry]) => delimited(inside, string(1, name), field(2, entry)))));
  };

const typeItem: Field = (number, value) => delimited(number, strings(1, Array.isArray(value) ? value : [value]));
const itemsItem: Field = (number, value) => delimited(number, each(message('schema'))(1, Array.isArray(value) ? value : [value]));
const additionalProperties: Field = (number, value) =>
  delimited(number, typeof value === 'boolean' ? integer(2, value) : message('schema')(1, value));
const schemaItem: Field = (number, value) => delimited(number, message('schema')(1, value));

const PLACES: Record<string, [number: number, name: 'headerParameter' | 'queryParameter' | 'pathParameter']> = {
  header: [1, 'headerParameter'],
  query: [3, 'queryParameter'],
  path: [4, 'pathParameter'],
};

const parameter: Field = (number, value) => {
  if (value.in === 'body') return delimited(number, message('bodyParameter')(1, value));
  const [place, name] = PLACES[value.in];
  return delimited(number, delimited(2, message(name)(place, value)));
};
const parametersItem: Field = (number, value) =>
  delimited(number, value.$ref === undefined ? parameter(1, value) : message('reference')(2, value));
const responseValue: Field = (number, value) =>
  delimited(number, value.$ref === undefined ? message('response')(1, value) : message('reference')(2, value));
const stringArray: Field = (number, value) => delimited(number, strings(1, value));
const apiKeyDefinition: Field = (number, value) => delimited(number, message('apiKey')(2, value));

const parameterFields = (first: number): Message => ({
  required: [1, bool],
  in: [2, string],
  description: [3, string],
  name: [4, string],
  type: [first, string],
  format: [first + 1, string],
  default: [first + 4, any],
  maximum: [first + 5, double],
  minimum: [first + 7, double],
  pattern: [first + 11, string],
  uniqueItems: [first + 14, bool],
  enum: [first + 15, each(any)],
  'x-': [first + 17, any],
});

/** The messages of gnostic's OpenAPI v2 that Kubernetes documents use, by their JSON names. `x-` stands for all extensions. */
const MESSAGES: Record<MessageName, Message> = {
  document: {
    swagger: [1, string],
    info: [2, message('info')],
    paths: [8, named(message('pathItem'), 2)],
    definitions: [9, named(message('schema'))],
    parameters: [10, named(parameter)],
    security: [12, each(named(stringArray))],
    securityDefinitions: [13, named(apiKeyDefinition)],
    'x-': [16, any],
  },
  info: { title: [1, string], version: [2, string], description: [3, string], 'x-': [7, any] },
  apiKey: { type: [1, string], name: [2, string], in: [3, string], description: [4, string], 'x-': [5, any] },
  reference: { $ref: [1, string], description: [2, string] },
  pathItem: {
    $ref: [1, string],
    get: [2, message('operation')],
    put: [3, message('operation')],
    post: [4, message('operation')],
    delete: [5, message('operation')],
    options: [6, message('operation')],
    head: [7, message('operation')],
    patch: [8, message('operation')],
    parameters: [9, each(parametersItem)],
    'x-': [10, any],
  },
  operation: {
    tags: [1, strings],
    summary: [2, string],
    description: [3, string],
    operationId: [5, string],
    produces: [6, strings],
    consumes: [7, strings],
    parameters: [8, each(parametersItem)],
    responses: [9, named(responseValue)],
    schemes: [10, strings],
    deprecated: [11, bool],
    'x-': [13, any],
  },
  response: { description: [1, string], schema: [2, schemaItem], 'x-': [5, any] },
  bodyParameter: {
    description: [1, string],
    name: [2, string],
    in: [3, string],
    required: [4, bool],
    schema: [5, message('schema')],
    'x-': [6, any],
  },
  headerParameter: parameterFields(5),
  queryParameter: parameterFields(6),
  pathParameter: parameterFields(5),
  schema: {
    $ref: [1, string],
    format: [2, string],
    title: [3, string],
    description: [4, string],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, bool],
    minimum: [9, double],
    exclusiveMinimum: [10, bool],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, string],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, bool],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, strings],
    enum: [20, each(any)],
    additionalProperties: [21, additionalProperties],
    type: [22, typeItem],
    items: [23, itemsItem],
    allOf: [24, each(message('schema'))],
    properties: [25, named(message('schema'))],
    readOnly: [27, bool],
    example: [30, any],
    'x-': [31, any],
  },
};

function encodeMessage(name: MessageName, value: Json): Uint8Array {
  const fields = MESSAGES[name];
  const parts: Uint8Array[] = [];
  for (const [key, entry] of Object.entries(value as Record<string, Json>)) {
    if (entry === undefined || entry === null) continue;
    if (key.startsWith('x-')) parts.push(delimited(fields['x-'][0], string(1, key), any(2, entry)));
    else if (fields[key] !== undefined) parts.push(fields[key][1](fields[key][0], entry));
  }
  return Buffer.concat(parts);
}

/**
 * A Swagger document, or a part of one, as the protobuf message that client-go asks for. Parts may be joined: paths and definitions of
 * several encodings, one behind the other, are read as one document.
 */
export function encodeSwagger(document: Json): Uint8Array {
  return encodeMessage('document', document);
}
