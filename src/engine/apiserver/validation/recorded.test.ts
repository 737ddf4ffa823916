import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseApiVersion, type Json, type KubeObject } from '../../../kube/object.ts';
import { validateBuiltin, warnings } from './index.ts';
import { applyChange, type Change } from './recorded/apply-change.ts';

/** Answers of a real kube-apiserver, recorded by tools/record-validation. */
interface Case {
  name: string;
  base: string;
  operation?: 'update';
  subresource?: string;
  oldChange?: Change;
  change: Change;
  /** Go walks maps in random order. */
  unordered?: boolean;
  causes: [reason: string, field: string, message: string][];
  warnings?: string[];
}

interface Recorded {
  bases: Record<string, KubeObject>;
  cases: Case[];
}

interface Answer {
  causes: Json[];
  warnings: string[];
}

function expected({ causes, unordered, warnings = [] }: Case): Answer {
  return { causes: unordered ? causes.map(String).sort() : causes, warnings };
}

function answer(base: KubeObject, { operation, subresource, oldChange, change, unordered }: Case): Answer {
  const stored = oldChange === undefined ? base : applyChange(base, oldChange);
  const object = applyChange(stored, change);
  const kind = { group: parseApiVersion(object.apiVersion).group, kind: object.kind };
  const old = operation === 'update' ? stored : undefined;
  const found = validateBuiltin(kind, object, old, { subresource });
  const causes: Json[] = found.map(({ type, field, message }) => [type, field, message]);
  if (found.length > 0) return { causes: unordered ? causes.map(String).sort() : causes, warnings: [] };
  if (old !== undefined) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  return { causes, warnings: subresource === undefined ? warnings(kind, object, old) : [] };
}

const folder = new URL('./recorded/', import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  const { bases, cases }: Recorded = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  if (file === 'mutations.json') {
    test.each(Object.keys(bases))('%s, is answered like the real one, with each of its fields spoiled', (base) => {
      const own = cases.filter((one) => one.base === base);
      const named = (answerOf: (one: Case) => Answer): Json => own.map((one) => ({ name: one.name, ...answerOf(one) }));
      expect(named((one) => answer(bases[base], one))).toEqual(named(expected));
    });
    continue;
  }
  describe(file, () => {
    test.each(cases)('$base: $name', (one) => expect(answer(bases[one.base], one)).toEqual(expected(one)));
  });
}
