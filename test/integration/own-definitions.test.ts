import { expect, it } from 'vitest';
import { checkDefinition } from '../../src/engine/apiserver/crd/definition-check.ts';
import { setDefinitionDefaults, type CustomResourceDefinition } from '../../src/engine/apiserver/crd/definition.ts';
import { runToEnd } from '../../src/engine/apiserver/schema/slices.ts';
import { ownCustomResourceDefinitions } from '../support/custom-resource-definitions.ts';

/** The engine takes the definitions that come with it without asking; so they are asked about here. */
it.each(ownCustomResourceDefinitions().map((definition) => [definition.metadata.name, definition] as const))(
  'the definition %s breaks no rule',
  (_, definition) => {
    const checked = structuredClone(definition) as CustomResourceDefinition;
    setDefinitionDefaults(checked);
    expect(runToEnd(checkDefinition(checked))).toEqual([]);
  },
);
