import type { Json } from '../../../kube/object.ts';
import { refuseCostlyJson } from '../verbs/body-limits.ts';
import { SLICED_VALUE_LIMIT } from '../verbs/value-limits.ts';
import type { WireReader } from './wire.ts';

/** Messages whose JSON form is not that of their fields. */
type ReadMessage = (reader: WireReader) => Json;

interface Numbers {
  [field: number]: number | string | Buffer;
}

function readFields(reader: WireReader, text: ReadonlySet<number>): Numbers {
  const found: Numbers = {};
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (wire === 0) found[field] = reader.signed();
    else if (wire === 2) found[field] = text.has(field) ? reader.text() : Buffer.from(reader.bytes());
    else reader.skip(wire);
  }
  return found;
}

const NONE: ReadonlySet<number> = new Set();
const FIRST: ReadonlySet<number> = new Set([1]);

/** Seconds and nanoseconds. The zero time is an empty message, and absent in JSON. */
function time(digits: 0 | 6): ReadMessage {
  return (reader) => {
    const { 1: seconds, 2: nanos } = readFields(reader, NONE) as Record<number, number | undefined>;
    if (seconds === undefined && nanos === undefined) return undefined;
    const base = new Date((seconds ?? 0) * 1000).toISOString().slice(0, 19);
    if (digits === 0) return `${base}Z`;
    return `${base}.${String(Math.floor((nanos ?? 0) / 1000)).padStart(6, '0')}Z`;
  };
}

/** Bytes that are JSON themselves. */
const rawJson: ReadMessage = (reader) => {
  const { 1: raw } = readFields(reader, NONE) as Record<number, Buffer | undefined>;
  if (raw === undefined || raw.byteLength === 0) return undefined;
  refuseCostlyJson(raw, SLICED_VALUE_LIMIT);
  return JSON.parse(raw.toString('utf8'));
};

const NANOSECONDS: [string, number][] = [
  ['h', 3600e9],
  ['m', 60e9],
  ['s', 1e9],
];

/** Go's text of a duration: `1m30s`. */
const duration: ReadMessage = (reader) => {
  const { 1: nanos } = readFields(reader, NONE) as Record<number, number | undefined>;
  let rest = nanos ?? 0;
  if (rest === 0) return '0s';
  let text = '';
  for (const [unit, size] of NANOSECONDS) {
    const count = unit === 's' ? rest / size : Math.floor(rest / size);
    if (count > 0 || (text !== '' && unit === 's')) text += `${count}${unit}`;
    rest -= Math.floor(rest / size) * size;
  }
  return text;
};

const intOrString: ReadMessage = (reader) => {
  const { 1: type, 2: number, 3: text } = readFields(reader, new Set([3])) as Record<number, number | string | undefined>;
  return type === 1 ? (text ?? '') : (number ?? 0);
};

const quantity: ReadMessage = (reader) => {
  const { 1: text } = readFields(reader, FIRST) as Record<number, string | undefined>;
  return text === undefined || text === '' ? '0' : text;
};

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

export const WELL_KNOWN: Record<string, ReadMessage | undefined> = {
  [`${META}.Time`]: time(0),
  [`${META}.MicroTime`]: time(6),
  [`${META}.Duration`]: duration,
  [`${META}.FieldsV1`]: rawJson,
  'io.k8s.apimachinery.pkg.api.resource.Quantity': quantity,
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': intOrString,
  'io.k8s.apimachinery.pkg.runtime.RawExtension': rawJson,
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': rawJson,
};
