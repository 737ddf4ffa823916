import { deepEqual } from '../../../kube/json-value.ts';
import { checkMapKeys } from '../schema/list-declarations.ts';
import type { SchemaDemands } from '../schema/schema-check.ts';
import { Pace, runToEnd } from '../schema/slices.ts';
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
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

/** Everything, as of a CRD that is created. */
export const ALL_DEMANDS: DefinitionDemands = {
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
};

/** What is demanded of an update. */
export function demandsOf(definition: CustomResourceDefinition, old: CustomResourceDefinition): DefinitionDemands {
  const schemas = schemasOf(old.spec);
  const reviews = old.spec.conversion?.webhook?.conversionReviewVersions ?? [];
  const caBundle = old.spec.conversion?.webhook?.clientConfig?.caBundle ?? '';
  return {
    schemas: old.spec.versions.every((version) => version.schema?.openAPIV3Schema),
    structural: !schemas.some(
      (schema) => runToEnd(unreadable(schema, new Pace())) !== undefined || runToEnd(checkStructural(schema, '', new Pace())).length > 0,
    ),
    prunedDefaults: true,
    validTypes: !schemas.some((schema) => schemaHas(schema, (node) => Boolean(node.type) && !TYPES.has(node.type ?? ''))),
    atomicSets: !schemas.some((schema) => schemaHas(schema, isNonAtomicSet)),
    mapKeys: !schemas.some((schema) => schemaHas(schema, (node) => checkMapKeys(node, '').length > 0)),
    recognizedReview: reviews.length === 0 || hasKnownReview(reviews),
    invalidCaBundleAllowed: !isConditionTrue(old, 'Established') || (caBundle !== '' && !isCaBundle(caBundle)),
    unchangedVersions: unchangedVersions(definition, old),
    tooManySelectable: unchangedSelectables(definition, old),
  };
}

function schemasOf(spec: DefinitionSpec): CrdSchema[] {
  return (spec.versions ?? []).flatMap((version) => version.schema?.openAPIV3Schema ?? []);
}

/** Adds the schemas directly below a node, junctors and forbidden parts included. */
export function pushSchemasBelow(node: CrdSchema, to: CrdSchema[]): void {
  const add = (part: unknown): void => {
    if (Array.isArray(part)) for (const item of part) add(item);
    else if (typeof part === 'object' && part !== null) to.push(part);
  };
  const addAll = (parts: Record<string, unknown> | undefined): void => {
    for (const name in parts) if (!Array.isArray(parts[name])) add(parts[name]);
  };
  addAll(node.properties);
  if (node.items !== undefined) add(node.items);
  if (node.additionalProperties !== undefined) add(node.additionalProperties);
  if (node.allOf !== undefined) add(node.allOf);
  if (node.anyOf !== undefined) add(node.anyOf);
  if (node.oneOf !== undefined) add(node.oneOf);
  if (node.not !== undefined) add(node.not);
  if (node.additionalItems !== undefined) add(node.additionalItems);
  addAll(node.patternProperties);
  addAll(node.definitions);
  addAll(node.dependencies);
}

/** True when any node of the schema satisfies the predicate. */
export function schemaHas(schema: CrdSchema, predicate: (node: CrdSchema) => boolean): boolean {
  const pending: CrdSchema[] = [schema];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (predicate(node)) return true;
    pushSchemasBelow(node, pending);
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
