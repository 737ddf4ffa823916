import type { Json } from '../../../kube/object.ts';
import { INTERNAL_FORMS } from './generated/internal-forms.ts';

/**
 * Objects as kube-apiserver holds them: Go structs, where an absent field is its zero value. Its messages print them and
 * its comparisons work on them, so `hostNetwork: false` equals its absence while `automountServiceAccountToken: false` does not.
 */
interface Field {
  key: string;
  place: string[];
  type: string;
  omitEmpty: boolean;
}

const texts = new Map<string, string>();
const forms = new Map<string, Field[]>();

function parseField(text: string): Field {
  const colon = text.indexOf(':');
  const equals = text.slice(0, colon).indexOf('=');
  const key = equals < 0 ? text.slice(0, colon) : text.slice(0, equals);
  const place = equals < 0 ? key[0].toLowerCase() + key.slice(1) : text.slice(equals + 1, colon);
  const omitEmpty = text.endsWith('!');
  return { key, place: place.split('/'), type: text.slice(colon + 1, omitEmpty ? -1 : undefined), omitEmpty };
}

function fieldsOf(name: string): Field[] {
  const known = forms.get(name);
  if (known !== undefined) return known;
  if (texts.size === 0) {
    for (const line of INTERNAL_FORMS.trim().split('\n')) {
      const space = line.indexOf(' ');
      texts.set(space < 0 ? line : line.slice(0, space), space < 0 ? '' : line.slice(space + 1));
    }
  }
  const text = texts.get(name);
  if (text === undefined) throw new Error(`Cannot print an object of type "${name}": it has no internal form; add its kind to the roots`);
  const fields = text === '' ? [] : text.split(' ').map(parseField);
  forms.set(name, fields);
  return fields;
}

function sortedEntries(value: Json): [string, Json][] {
  return Object.entries(value as Record<string, Json>).sort(([a], [b]) => (a < b ? -1 : 1));
}

function ofType(type: string, value: Json): Json {
  const first = type[0];
  if (first === '*') return value === undefined ? null : ofType(type.slice(1), value);
  if (first === '[') return value === undefined ? null : value.map((item: Json) => ofType(type.slice(1), item));
  if (first === '{') {
    return value === undefined ? null : Object.fromEntries(sortedEntries(value).map(([k, v]) => [k, ofType(type.slice(1), v)]));
  }
  if (first === '#') return internalForm(type.slice(1), value ?? {});
  if (value !== undefined) return value;
  const zero: Record<string, Json> = { string: '', number: 0, bool: false, quantity: '0', intstr: 0, bytes: '' };
  return type in zero ? zero[type] : null;
}

function isEmpty(value: Json): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value as object).length === 0;
}

/** Conversion moves these from the spec into its security context. */
function withPodSecurityContext(spec: Json): Json {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  return { ...spec, securityContext: { ...spec.securityContext, hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } };
}

/** What json.Marshal would make of the Go value of type `name` that `served` decodes to. */
export function internalForm(name: string, served: Json): Json {
  const from = name === 'PodSpec' ? withPodSecurityContext(served) : served;
  const form: Record<string, Json> = {};
  for (const field of fieldsOf(name)) {
    let value = from;
    for (const step of field.place) value = value?.[step];
    const converted = ofType(field.type, value);
    if (!(field.omitEmpty && isEmpty(converted))) form[field.key] = converted;
  }
  return form;
}

/** The internal form of each item; for messages that print a list. */
export function internalForms(name: string, served: Json[] | undefined): Json {
  return served === undefined ? null : served.map((item) => internalForm(name, item));
}

/** Maps print with their keys sorted. */
export function mapForm(map: Record<string, string> | undefined): Json {
  return map === undefined ? null : Object.fromEntries(sortedEntries(map));
}

export function selectorForm(selector: Json): Json {
  return selector === undefined ? null : internalForm('LabelSelector', selector);
}
