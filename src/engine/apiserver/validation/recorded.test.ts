import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseApiVersion, type Json, type KubeObject } from '../../../kube/object.ts';
import { applyChange, type Change } from './recorded/apply-change.ts';
import { validateBuiltin, warnings } from './index.ts';

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
    warnings?: string[];
  }[];
}

const folder = new URL('./recorded/', import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  const { bases, cases }: Recorded = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  describe(file, () => {
    test.each(cases)('$base: $name', ({ base, operation, subresource, oldChange, change, unordered, causes, warnings: advice = [] }) => {
      const stored = oldChange === undefined ? bases[base] : applyChange(bases[base], oldChange);
      const object = applyChange(stored, change);
      const kind = { group: parseApiVersion(object.apiVersion).group, kind: object.kind };
      const old = operation === 'update' ? stored : undefined;
      const found = validateBuiltin(kind, object, old, { subresource });
      const texts = found.map(({ type, field, message }): Json => [type, field, message]);
      const ordered = (list: Json[]): Json[] => (unordered ? list.map((item) => JSON.stringify(item)).sort() : list);
      expect(ordered(texts)).toEqual(ordered(causes));
      if (causes.length > 0 || subresource !== undefined) return;
      if (old !== undefined) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
      expect(warnings(kind, object, old)).toEqual(advice);
    });
  });
}
