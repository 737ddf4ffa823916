import { quote } from '../../../kube/go-text.ts';
import { semanticEqual } from '../../../kube/json-value.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Strategy } from '../registry/resource.ts';
import { FORMATS } from '../schema/formats.ts';
import { runInSlices, runToEnd } from '../schema/slices.ts';
import { checkDefinition, checkDefinitionStatus } from './definition-check.ts';
import { setDefinitionDefaults, type CustomResourceDefinition } from './definition.ts';
import { schemaHas } from './update-demands.ts';

/**
 * The strategy of CustomResourceDefinition itself. `base` is the strategy of a built-in kind, which knows how to read the object;
 * this one adds what apiextensions does on top.
 */
export function definitionStrategy(base: Strategy): Strategy {
  return {
    ...base,
    decode(object, version, onUnknown) {
      const decoded = base.decode(object, version, onUnknown);
      setDefinitionDefaults(decoded as CustomResourceDefinition);
      return decoded;
    },
    prepareCreate(object) {
      const definition = object as CustomResourceDefinition;
      definition.status = {};
      definition.metadata.generation = 1;
      recordStorageVersion(definition);
    },
    prepareUpdate(object, old, context) {
      const definition = object as CustomResourceDefinition;
      const before = old as CustomResourceDefinition;
      definition.metadata.generation = before.metadata.generation;
      if (context.subresource === 'status') {
        definition.spec = before.spec;
        return;
      }
      definition.status = structuredClone(before.status ?? {});
      if (!semanticEqual(definition.spec, before.spec)) definition.metadata.generation = (before.metadata.generation ?? 0) + 1;
      recordStorageVersion(definition);
    },
    validateCreate: (object) => runToEnd(checkDefinition(object as CustomResourceDefinition)),
    validateUpdate: (object, old, context) =>
      context.subresource === 'status'
        ? checkDefinitionStatus(object as CustomResourceDefinition)
        : runToEnd(checkDefinition(object as CustomResourceDefinition, old as CustomResourceDefinition)),
    validateLarge(object, old, context) {
      if (context.subresource === 'status') return Promise.resolve(checkDefinitionStatus(object as CustomResourceDefinition));
      return runInSlices(checkDefinition(object as CustomResourceDefinition, old as CustomResourceDefinition | undefined));
    },
    warnings: formatWarnings,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    nameRule: 'dns-subdomain',
    resetFields: { '': ['status'], status: ['metadata', 'spec'] },
  };
}

/** The storage version joins the list of versions in which objects may be stored. */
function recordStorageVersion(definition: CustomResourceDefinition): void {
  const version = definition.spec.versions?.find((candidate) => candidate.storage);
  if (version === undefined) return;
  definition.status ??= {};
  const stored = (definition.status.storedVersions ??= []);
  if (!stored.includes(version.name)) stored.push(version.name);
}

function unknownFormats(object: KubeObject | undefined): string[] {
  const found: string[] = [];
  for (const version of (object as CustomResourceDefinition | undefined)?.spec?.versions ?? []) {
    const schema = version.schema?.openAPIV3Schema;
    if (!schema) continue;
    schemaHas(schema, (node) => {
      if (node.type === 'string' && node.format && !Object.hasOwn(FORMATS, node.format.replaceAll('-', ''))) found.push(node.format);
      return false;
    });
  }
  return found;
}

function formatWarnings(object: KubeObject, old: KubeObject | undefined): string[] {
  const before = new Set(unknownFormats(old));
  return unknownFormats(object)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${quote(format)}`);
}
