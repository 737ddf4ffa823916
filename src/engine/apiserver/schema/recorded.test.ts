import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { UNCORRELATED } from './correlation.ts';
import { decodeBySchema } from './decode.ts';
import { checkEmbeddedResources } from './embedded-resources.ts';
import { formatCheck } from './formats.ts';
import { checkListTypes } from './list-types.ts';
import { SchemaNode } from './schema-node.ts';
import { Pace, runToEnd } from './slices.ts';
import { checkValue } from './value-check.ts';

// The expected outcomes were recorded from apiextensions-apiserver 0.35.4, given the same schemas and objects.
const read = (file: string): never => JSON.parse(readFileSync(new URL(`testdata/generated/${file}`, import.meta.url), 'utf8')) as never;

interface RecordedObject {
  schema: object;
  object: Record<string, unknown>;
  old?: Record<string, unknown>;
  want: { coerce?: string; unknown: string[] | null; object?: object; errors?: string[] };
}

function outcome({ schema, object, old }: RecordedObject): RecordedObject['want'] {
  const node = new SchemaNode(schema);
  const draft = structuredClone(object);
  const unknown: string[] = [];
  const pace = new Pace();
  try {
    runToEnd(decodeBySchema(node, draft, { onUnknown: (path) => unknown.push(path) }));
  } catch (error) {
    return { coerce: (error as Error).message, unknown: unknown.sort() };
  }
  const findings = [
    ...runToEnd(checkValue(node, draft, { old: old ?? UNCORRELATED })),
    ...runToEnd(checkEmbeddedResources(node, draft, pace)),
  ];
  const doubled = old !== undefined && runToEnd(checkListTypes(node, old, pace)).length > 0;
  if (!doubled) findings.push(...runToEnd(checkListTypes(node, draft, pace)));
  return { unknown: unknown.sort(), object: draft, errors: findings.map((f) => `${f.type}|${f.field}: ${f.message}`).sort() };
}

describe('custom objects, as Kubernetes prunes, defaults and checks them', () => {
  const cases: RecordedObject[] = read('objects.json');
  it.each(cases.map((recorded) => [JSON.stringify([recorded.schema, recorded.object, recorded.old]).slice(0, 160), recorded] as const))(
    '%s',
    (_, recorded) => {
      expect(outcome(recorded)).toEqual({ ...recorded.want, unknown: [...(recorded.want.unknown ?? [])].sort() });
    },
  );
});

describe('string formats, as Kubernetes accepts them', () => {
  const formats: Record<string, { valid: string[]; invalid: string[] }> = read('formats.json');
  it.each(Object.entries(formats))('%s', (format, { valid, invalid }) => {
    const check = formatCheck(format) ?? (() => true);
    expect(valid.filter((text) => !check(text))).toEqual([]);
    expect(invalid.filter((text) => check(text))).toEqual([]);
  });
});
