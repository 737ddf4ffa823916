import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readRecorded } from '../builtin/recorded.ts';
import { WireReader } from '../protobuf/wire.ts';
import { encodeSwagger } from './protobuf-document.ts';

/** Fields of one level, by number; nested messages stay bytes. */
function fieldsOf(bytes: Uint8Array): [number, unknown][] {
  const reader = new WireReader(Buffer.from(bytes));
  const fields: [number, unknown][] = [];
  while (!reader.done) {
    const { field, wire } = reader.tag();
    fields.push([field, wire === 2 ? reader.bytes() : wire === 1 ? reader.double() : reader.unsigned()]);
  }
  return fields;
}

/** Follows field numbers into the message. */
function at(bytes: Uint8Array, ...path: number[]): unknown {
  let value: unknown = bytes;
  for (const number of path) value = fieldsOf(value as Uint8Array).find(([field]) => field === number)?.[1];
  return value instanceof Buffer ? value.toString('utf8') : value;
}

const DEFINITION = [9, 1, 2];
const schema = (body: object) => encodeSwagger({ definitions: { Widget: body } });

describe('encodeSwagger', () => {
  test.each([
    ['a description', { description: 'a widget' }, [4], 'a widget'],
    ['a type', { type: 'object' }, [22, 1], 'object'],
    ['a reference', { $ref: '#/definitions/X' }, [1], '#/definitions/X'],
    ['items', { items: { format: 'int32' } }, [23, 1, 2], 'int32'],
    ['a property', { properties: { size: { pattern: '^a' } } }, [25, 1, 2, 13], '^a'],
    ['a minimum', { minimum: 0.5 }, [9], 0.5],
    ['a length', { maxLength: 300 }, [11], 300],
    ['free additional properties', { additionalProperties: true }, [21, 2], 1],
    ['typed additional properties', { additionalProperties: { type: 'string' } }, [21, 1, 22, 1], 'string'],
    ['a default', { default: { a: 1 } }, [5, 2], '{"a":1}'],
    ['an extension', { 'x-kubernetes-list-type': 'map' }, [31, 2, 2], '"map"'],
  ])('writes %s of a schema where gnostic reads it', (_name, body, path, expected) => {
    expect(at(schema(body), ...DEFINITION, ...path)).toBe(expected);
  });

  test.each([
    ['the body', { name: 'body', in: 'body', schema: { $ref: 'x' } }, [1, 1, 2], 'body'],
    ['a query', { name: 'dryRun', in: 'query', type: 'string' }, [1, 2, 3, 6], 'string'],
    ['a path', { name: 'name', in: 'path', type: 'string' }, [1, 2, 4, 5], 'string'],
    ['a reference', { $ref: '#/parameters/x' }, [2, 1], '#/parameters/x'],
  ])('writes a parameter of %s', (_name, parameter, path, expected) => {
    const bytes = encodeSwagger({ paths: { '/x': { get: { parameters: [parameter] } } } });
    expect(at(bytes, 8, 2, 2, 2, 8, ...path)).toBe(expected);
  });

  test('joins with another part into one document', () => {
    const joined = Buffer.concat([schema({ type: 'object' }), encodeSwagger({ definitions: { Other: {} } })]);
    expect(fieldsOf(joined).map(([number]) => number)).toEqual([9, 9]);
  });

  test('says of the recorded document what its JSON says', () => {
    const document = JSON.parse(gunzipSync(readRecorded('openapi/v2.json.gz')).toString('utf8'));
    const recorded = gunzipSync(readRecorded('openapi/v2.pb.gz'));
    expect(recorded.equals(encodeSwagger(document))).toBe(true);
  });
});
