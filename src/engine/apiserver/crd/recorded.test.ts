import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NAME_RULES, validateObjectMeta, validateObjectMetaUpdate } from '../../../kube/metadata-validation.ts';
import { runToEnd } from '../schema/slices.ts';
import { checkDefinition } from './definition-check.ts';
import { setDefinitionDefaults, type CustomResourceDefinition } from './definition.ts';

interface RecordedDefinition {
  crd: CustomResourceDefinition;
  oldCrd?: CustomResourceDefinition;
  want: string[];
}

// Recorded from apiextensions-apiserver 0.35.4.
const read = (file: string): RecordedDefinition[] =>
  JSON.parse(readFileSync(new URL(`testdata/generated/${file}`, import.meta.url), 'utf8')) as RecordedDefinition[];
const cases = [...read('definitions.json'), ...read('definition-rules.json')];

function findings({ crd, oldCrd }: RecordedDefinition): string[] {
  setDefinitionDefaults(crd);
  if (oldCrd !== undefined) setDefinitionDefaults(oldCrd);
  const metadata =
    oldCrd === undefined
      ? validateObjectMeta(crd.metadata, false, NAME_RULES['dns-subdomain'])
      : validateObjectMetaUpdate(crd.metadata, oldCrd.metadata);
  return [...metadata, ...runToEnd(checkDefinition(crd, oldCrd))].map((f) => `${f.type}|${f.field}: ${f.message}`).sort();
}

describe('CustomResourceDefinitions, as Kubernetes accepts and refuses them', () => {
  it.each(cases.map((recorded, at) => [`${at}: ${recorded.want.join('; ').slice(0, 140) || 'accepted'}`, recorded] as const))(
    '%s',
    (_, recorded) => {
      expect(findings(recorded)).toEqual([...recorded.want].sort());
    },
  );
});
