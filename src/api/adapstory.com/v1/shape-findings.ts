import type { Schema } from '../../../kube/schema.ts';

/** Something wrong with a document, and where: `['spec', 'mcpTools', 0, 'name']`. */
export interface Finding {
  path: (string | number)[];
  message: string;
}

const MAX_FINDINGS = 50;

/** What in a document is not of its shape: wrong types and values, missing fields, fields that do not exist. */
export function shapeFindings(value: unknown, schema: Schema, path: (string | number)[] = []): Finding[] {
  const findings: Finding[] = [];
  check(value, schema, path, findings);
  return findings.slice(0, MAX_FINDINGS);
}

function check(value: unknown, schema: Schema, path: (string | number)[], findings: Finding[]): void {
  if (findings.length >= MAX_FINDINGS) return;
  const say = (message: string) => void findings.push({ path, message });
  if (schema['x-kubernetes-int-or-string']) return checkQuantity(value, schema, say);
  const expected = schema.type === 'integer' ? 'a whole number' : `${article(schema.type)} ${schema.type}`;
  if (schema.type !== undefined && !IS_OF_TYPE[schema.type](value)) return say(`expected ${expected}, found ${describe(value)}`);
  if (schema.enum && !schema.enum.includes(value)) return say(`expected ${oneOfText(schema.enum)}, found ${describe(value)}`);
  if (typeof value === 'string') checkText(value, schema, say);
  else if (typeof value === 'number') checkNumber(value, schema, say);
  else if (Array.isArray(value)) checkList(value, schema, path, findings, say);
  else if (typeof value === 'object' && value !== null) checkObject(value as Record<string, unknown>, schema, path, findings);
}

function checkObject(value: Record<string, unknown>, schema: Schema, path: (string | number)[], findings: Finding[]): void {
  const { properties = {}, required = [], additionalProperties, maxProperties } = schema;
  for (const name of required)
    if (value[name] === undefined || value[name] === null) findings.push({ path: [...path, name], message: 'required, but missing' });
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  if (maxProperties !== undefined && entries.length > maxProperties)
    findings.push({ path, message: `at most ${maxProperties} entries, found ${entries.length}` });
  for (const [name, inner] of entries) {
    const known = Object.hasOwn(properties, name)
      ? properties[name]
      : typeof additionalProperties === 'object'
        ? additionalProperties
        : undefined;
    if (!known) findings.push({ path: [...path, name], message: `unknown field; ${fieldsText(properties, name)}` });
    else if (inner !== null || !required.includes(name)) check(inner, known, [...path, name], findings);
  }
}

function checkList(value: unknown[], schema: Schema, path: (string | number)[], findings: Finding[], say: (message: string) => void): void {
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    return say(`at most ${schema.maxItems} items, found ${value.length}`);
  if (schema.minItems !== undefined && value.length < schema.minItems)
    return say(`at least ${schema.minItems} items, found ${value.length}`);
  for (const [index, item] of value.entries()) check(item, schema.items ?? {}, [...path, index], findings);
}

function checkText(value: string, schema: Schema, say: (message: string) => void): void {
  if (schema.maxLength !== undefined && value.length > schema.maxLength)
    say(`at most ${schema.maxLength} characters, found ${value.length}`);
  else if (schema.minLength !== undefined && value.length < schema.minLength) say('expected some text, found none');
  else if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
    say(`${describe(value)} does not match ${schema.pattern}`);
}

function checkNumber(value: number, schema: Schema, say: (message: string) => void): void {
  if (schema.minimum !== undefined && value < schema.minimum) say(`expected at least ${schema.minimum}, found ${value}`);
  if (schema.maximum !== undefined && value > schema.maximum) say(`expected at most ${schema.maximum}, found ${value}`);
}

function checkQuantity(value: unknown, schema: Schema, say: (message: string) => void): void {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : undefined;
  if (text === undefined || !new RegExp(schema.pattern!).test(text))
    say(`expected an amount such as 100m, 2 or 256Mi, found ${describe(value)}`);
}

const IS_OF_TYPE: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isSafeInteger(value),
  number: (value) => Number.isFinite(value),
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

function article(type: string | undefined): string {
  return type === 'array' || type === 'object' || type === 'integer' ? 'an' : 'a';
}

function oneOfText(values: readonly unknown[]): string {
  return values.length === 1 ? JSON.stringify(values[0]) : `one of ${values.map((each) => JSON.stringify(each)).join(', ')}`;
}

/** The field that was probably meant comes first. */
function fieldsText(properties: Record<string, Schema>, given: string): string {
  const names = Object.keys(properties);
  const meant = names.find((name) => name.toLowerCase() === given.toLowerCase() || distance(name, given) <= 2);
  return meant ? `did you mean "${meant}"?` : `the fields here are ${names.join(', ')}`;
}

/** Insertions, deletions and exchanges between two short words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}
