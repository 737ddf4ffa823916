import { expect, test } from 'vitest';
import { readRecordedJson } from '../recorded.ts';
import { fieldsOf, goType } from './go-type.ts';

interface Recorded {
  structs: Record<string, [name: string, type: string][]>;
}

test('fieldsOf knows every struct that a field of a recorded struct can hold', () => {
  const { structs } = readRecordedJson('structs.json') as Recorded;
  const types = Object.values(structs).flatMap((fields) => fields.map(([, type]) => type));
  for (const type of new Set(types)) {
    let inner = goType(type);
    while ('element' in inner) inner = inner.element;
    if (inner.form === 'struct') expect(() => fieldsOf(inner.definition), type).not.toThrow();
  }
});
