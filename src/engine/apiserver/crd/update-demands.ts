import { deepEqual } from '../../../kube/json-value.ts';
import { checkMapKeys } from '../schema/list-declarations.ts';
import type { SchemaDemands } from '../schema/schema-check.ts';
import { checkStructural, unreadable, type CrdSchema } from '../schema/structural.ts';
import { hasKnownReview, isCaBundle, type ConversionDemands } from './conversion-check.ts';
import { isConditionTrue, type CustomResourceDefinition, type DefinitionSpec } from './definition.ts';

/**
 * What is demanded of a CRD. A create meets all of it; an update is spared what the stored CRD already breaks, so that old CRDs
 * stay editable.
 */
export interface DefinitionDemands extends SchemaDemands, ConversionDemands {
  schemas: boolean;
  structural: boolean;
  prunedDefaults: boolean;
  /** Versions whose schema did not change: the cost of each of their rules is not weighed again. */
  unchangedVersions: ReadonlySet<string>;
  suppressesCost?: boolean;
  /** Versions ('' for all) that had too many selectable fields before and keep them. */
  tooManySelectable: ReadonlySet<string>;
  /** Rules that are stored already, which are compiled with what older servers knew. */
  knownRules: ReadonlySet<string>;
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

export function demandsOf(definition: CustomResourceDefinition, old?: CustomResourceDefinition): DefinitionDemands {
  if (old === undefined) {
    return {
      schemas: true,
      structural: true,
      prunedDefaults: true,
      validTypes: true,
      atomicSets: true,
      mapKeys: true,
      recognizedReview: true,
      invalidCaBundleAllowed: true,
      unchangedVersions: new Set(),
      tooManySelectable: new Set(),
      knownRules: new Set(),
    };
  }
  const schemas = schemasOf(old.spec);
  const reviews = old.spec.conversion?.webhook?.conversionReviewVersions ?? [];
  const caBundle = old.spec.conversion?.webhook?.clientConfig?.caBundle ?? '';
  return {
    schemas: old.spec.versions.every((version) => version.schema?.openAPIV3Schema),
    structural: !schemas.some((schema) => unreadable(schema) !== undefined || checkStructural(schema, '').length > 0),
    prunedDefaults: true,
    validTypes: !schemas.some((schema) => schemaHas(schema, (node) => Boolean(node.type) && !TYPES.has(node.type ?? ''))),
    atomicSets: !schemas.some((schema) => schemaHas(schema, isNonAtomicSet)),
    mapKeys: !schemas.some((schema) => schemaHas(schema, (node) => checkMapKeys(node, '').length > 0)),
    recognizedReview: reviews.length === 0 || hasKnownReview(reviews),
    invalidCaBundleAllowed: !isConditionTrue(old, 'Established') || (caBundle !== '' && !isCaBundle(caBundle)),
    unchangedVersions: unchangedVersions(definition, old),
    tooManySelectable: unchangedSelectables(definition, old),
    knownRules: knownRules(schemas),
  };
}

function schemasOf(spec: DefinitionSpec): CrdSchema[] {
  return (spec.versions ?? []).flatMap((version) => version.schema?.openAPIV3Schema ?? []);
}

/** The schemas directly below a node, junctors and forbidden parts included. */
export function schemasBelow(node: CrdSchema): CrdSchema[] {
  const found: CrdSchema[] = [];
  for (const part of [node.items, node.allOf, node.anyOf, node.oneOf, node.not, node.additionalProperties, node.additionalItems]) {
    if (Array.isArray(part)) found.push(...part);
    else if (typeof part === 'object' && part !== null) found.push(part);
  }
  for (const part of [node.properties, node.patternProperties, node.definitions, node.dependencies]) {
    found.push(...(Object.values(part ?? {}) as CrdSchema[]));
  }
  return found.filter((schema) => typeof schema === 'object' && schema !== null && !Array.isArray(schema));
}

/** True when any node of the schema satisfies the predicate. */
export function schemaHas(schema: CrdSchema, predicate: (node: CrdSchema) => boolean): boolean {
  const pending: CrdSchema[] = [schema];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (predicate(node)) return true;
    pending.push(...schemasBelow(node));
  }
  return false;
}

export function specHasDefaults(spec: DefinitionSpec): boolean {
  return schemasOf(spec).some((schema) => schemaHas(schema, (node) => (node.default ?? null) !== null));
}

export function specHasExtensions(spec: DefinitionSpec): boolean {
  return schemasOf(spec).some((schema) =>
    schemaHas(
      schema,
      (node) =>
        Boolean(node['x-kubernetes-embedded-resource'] || node['x-kubernetes-int-or-string']) ||
        (node['x-kubernetes-preserve-unknown-fields'] ?? undefined) !== undefined ||
        (node['x-kubernetes-list-type'] ?? undefined) !== undefined ||
        (node['x-kubernetes-list-map-keys']?.length ?? 0) > 0 ||
        (node['x-kubernetes-validations']?.length ?? 0) > 0,
    ),
  );
}

function isNonAtomicSet(schema: CrdSchema): boolean {
  const items = schema.items;
  if (schema['x-kubernetes-list-type'] !== 'set' || !items || Array.isArray(items)) return false;
  if (items.type === 'array') return (items['x-kubernetes-list-type'] ?? 'atomic') !== 'atomic';
  return items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic';
}

function unchangedVersions(definition: CustomResourceDefinition, old: CustomResourceDefinition): Set<string> {
  const before = new Map(old.spec.versions.map((version) => [version.name, version.schema ?? undefined]));
  const unchanged = (definition.spec.versions ?? []).filter(
    (version) => before.has(version.name) && deepEqual(version.schema ?? undefined, before.get(version.name)),
  );
  return new Set(unchanged.map((version) => version.name));
}

function unchangedSelectables(definition: CustomResourceDefinition, old: CustomResourceDefinition): Set<string> {
  const before = new Map(old.spec.versions.map((version) => [version.name, version.selectableFields ?? []]));
  const names = (definition.spec.versions ?? [])
    .filter((version) => (before.get(version.name)?.length ?? 0) > 8 && deepEqual(version.selectableFields, before.get(version.name)))
    .map((version) => version.name);
  return new Set(names.length === definition.spec.versions?.length ? [...names, ''] : names);
}

function knownRules(schemas: readonly CrdSchema[]): Set<string> {
  const known = new Set<string>();
  for (const schema of schemas) {
    schemaHas(schema, (node) => {
      for (const rule of node['x-kubernetes-validations'] ?? []) {
        known.add(rule.rule);
        if (rule.messageExpression) known.add(rule.messageExpression);
      }
      return false;
    });
  }
  return known;
}
