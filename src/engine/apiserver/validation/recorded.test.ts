import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseApiVersion, type Json, type KubeObject } from '../../../kube/object.ts';
import { applyChange, type Change } from './recorded/apply-change.ts';
import { validateBuiltin } from './index.ts';

/** Answers of a real kube-apiserver, recorded by tools/record-validation. */
interface Recorded {
  bases: Record<string, KubeObject>;
  cases: {
    name: string;
    base: string;
    operation?: 'update';
    subresource?: string;
    oldChange?: Change;
    change: Change;
    unordered?: boolean;
    causes: [reason: string, field: string, message: string][];
  }[];
}

const folder = new URL('./recorded/', import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  const { bases, cases }: Recorded = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  describe(file, () => {
    test.each(cases)('$base: $name', ({ base, operation, subresource, oldChange, change, unordered, causes }) => {
      const stored = oldChange === undefined ? bases[base] : applyChange(bases[base], oldChange);
      const object = applyChange(stored, change);
      const { group } = parseApiVersion(object.apiVersion);
      const found = validateBuiltin({ group, kind: object.kind }, object, operation === 'update' ? stored : undefined, { subresource });
      const texts = found.map(({ type, field, message }): Json => [type, field, message]);
      const ordered = (list: Json[]): Json[] => (unordered ? list.map((item) => JSON.stringify(item)).sort() : list);
      expect(ordered(texts)).toEqual(ordered(causes));
    });
  });
}
