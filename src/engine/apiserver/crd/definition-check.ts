import type { FieldError } from '../../../kube/field-error.ts';
import { isPrintable } from '../../../kube/go-text.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { isDns1035Label, isDns1123Subdomain } from '../../../kube/names.ts';
import { child, index, invalidValue, requiredValue, unsupportedValue } from '../schema/findings.ts';
import { Pace, type Sliced } from '../schema/slices.ts';
import { checkApproval } from './approval.ts';
import { checkConversion } from './conversion-check.ts';
import { isConditionTrue, type CustomResourceDefinition, type DefinitionNames, type DefinitionVersion } from './definition.ts';
import { internalVersions, toInternal, type InternalDefinition } from './internal-definition.ts';
import { checkColumn, checkSelectableFields, checkSubresources } from './served-parts-check.ts';
import { checkDefinitionSchema } from './schema-rules.ts';
import { ALL_DEMANDS, demandsOf, specHasDefaults, specHasExtensions, type DefinitionDemands } from './update-demands.ts';

/** Findings about a CRD on its way in. `old` is the stored one on an update. Metadata is checked by the caller, except the name. */
export function* checkDefinition(definition: CustomResourceDefinition, old?: CustomResourceDefinition): Sliced<FieldError[]> {
  const found: FieldError[] = [];
  const pace = new Pace();
  const spec = definition.spec;
  const name = definition.metadata.name ?? '';
  if (old === undefined && name !== `${spec.names?.plural ?? ''}.${spec.group ?? ''}`) {
    found.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  found.push(...(old === undefined ? yield* checkSpec(definition, ALL_DEMANDS, pace) : yield* checkSpecUpdate(definition, old, pace)));
  found.push(...checkNames(definition.status?.acceptedNames, 'status.acceptedNames'));
  found.push(...checkStoredVersions(definition.status?.storedVersions ?? [], spec.versions ?? []));
  found.push(...checkApproval(definition, old));
  if (spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true) {
    const detail = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    found.push(invalidValue('spec.preserveUnknownFields', true, detail));
  }
  return found;
}

/** Nothing is looked at twice: what did not change was accepted, and what breaks no rule needs no leniency. */
function* checkSpecUpdate(definition: CustomResourceDefinition, old: CustomResourceDefinition, pace: Pace): Sliced<FieldError[]> {
  if (deepEqual(definition.spec, old.spec)) return [];
  const strict = yield* checkSpec(definition, { ...ALL_DEMANDS, invalidCaBundleAllowed: false }, pace);
  const found = strict.length === 0 ? strict : yield* checkSpec(definition, demandsOf(definition, old), pace);
  return [...found, ...checkImmutable(definition, old)];
}

/** Findings about an update of the status alone. */
export function checkDefinitionStatus(definition: CustomResourceDefinition): FieldError[] {
  return checkNames(definition.status?.acceptedNames, 'status.acceptedNames');
}

function* checkSpec(definition: CustomResourceDefinition, demands: DefinitionDemands, pace: Pace): Sliced<FieldError[]> {
  const found: FieldError[] = [];
  const spec = definition.spec;
  const internal = toInternal(spec);
  const preserves = spec.preserveUnknownFields === true;
  found.push(...checkGroup(spec.group ?? ''));
  found.push(...checkEnum('spec.scope', spec.scope ?? '', ['Cluster', 'Namespaced']));
  found.push(...checkSchemasPresent(internal, demands, preserves));
  const structural = demands.structural || !preserves || specHasDefaults(spec) || specHasExtensions(spec);
  if (preserves && specHasDefaults(spec)) {
    found.push(invalidValue('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema'));
  }
  const needs: DefinitionDemands = { ...demands, structural };
  for (const [at, version] of internal.versions.entries()) {
    found.push(...(yield* checkVersion(version, index('spec.versions', at), hasStatus(internal, version), needs, pace)));
  }
  found.push(...checkVersionSet(internal.versions));
  found.push(...checkRequiredNames(spec.names ?? ({} as DefinitionNames)));
  found.push(...(yield* checkCommonParts(internal, needs, pace)));
  const strategy = spec.conversion?.strategy;
  if (strategy !== undefined && strategy !== 'None' && preserves) {
    found.push(invalidValue('spec.conversion.strategy', strategy, 'must be None if spec.preserveUnknownFields is true'));
  }
  return [...found, ...checkConversion(spec.conversion, 'spec.conversion', demands)];
}

function hasStatus(internal: InternalDefinition, version: DefinitionVersion): boolean {
  const perVersion = internal.versions.some((candidate) => (candidate.subresources ?? undefined) !== undefined);
  return Boolean((perVersion ? version.subresources : internal.subresources)?.status);
}

function* checkCommonParts(internal: InternalDefinition, demands: DefinitionDemands, pace: Pace): Sliced<FieldError[]> {
  const anyStatus = Boolean(internal.subresources?.status) || internal.versions.some((version) => Boolean(version.subresources?.status));
  const unchanged = demands.unchangedVersions.has(internal.versions[0]?.name ?? '');
  const needs = { ...demands, suppressesCost: unchanged };
  const found = yield* checkDefinitionSchema(internal.validation, 'spec.validation', anyStatus, needs, pace);
  found.push(...checkSubresources(internal.subresources, 'spec.subresources'));
  for (const [at, column] of (internal.additionalPrinterColumns ?? []).entries()) {
    found.push(...checkColumn(column, index('spec.additionalPrinterColumns', at)));
  }
  const fields = internal.selectableFields ?? [];
  if (fields.length > 0) {
    const schema = internal.validation?.openAPIV3Schema;
    if (schema === undefined) {
      found.push(invalidValue('spec.selectableFields', '', 'may only be set when validations.schema is included'));
    } else found.push(...checkSelectableFields(fields, schema, 'spec.selectableFields', demands.tooManySelectable.has('')));
  }
  return found;
}

function checkGroup(group: string): FieldError[] {
  if (group === '') return [requiredValue('spec.group')];
  const complaints = isDns1123Subdomain(group);
  if (complaints.length > 0) return [invalidValue('spec.group', group, complaints.join(','))];
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

export function checkEnum(path: string, value: string, accepted: string[]): FieldError[] {
  if (value === '') return [requiredValue(path)];
  return accepted.includes(value) ? [] : [unsupportedValue(path, value, accepted)];
}

function checkSchemasPresent(internal: InternalDefinition, demands: DefinitionDemands, preserves: boolean): FieldError[] {
  if (internal.validation?.openAPIV3Schema !== undefined || (!demands.schemas && preserves)) return [];
  const found: FieldError[] = [];
  for (const [at, version] of internal.versions.entries()) {
    if (version.schema?.openAPIV3Schema || (!demands.schemas && !version.served)) continue;
    const detail = demands.schemas ? '' : 'because otherwise all fields are pruned';
    found.push(requiredValue(`${index('spec.versions', at)}.schema.openAPIV3Schema`, detail));
  }
  return found;
}

function* checkVersion(
  version: DefinitionVersion,
  path: string,
  statusEnabled: boolean,
  demands: DefinitionDemands,
  pace: Pace,
): Sliced<FieldError[]> {
  const found: FieldError[] = [];
  const complaints = isDns1035Label(version.name ?? '');
  if (complaints.length > 0) found.push(invalidValue(child(path, 'name'), version.name ?? '', complaints.join(',')));
  const warning = version.deprecationWarning ?? undefined;
  for (const complaint of checkDeprecationWarning(version.deprecated ?? false, warning)) {
    found.push(invalidValue(child(path, 'deprecationWarning'), warning, complaint));
  }
  const needs = { ...demands, suppressesCost: demands.unchangedVersions.has(version.name) };
  found.push(...(yield* checkDefinitionSchema(version.schema, child(path, 'schema'), statusEnabled, needs, pace)));
  found.push(...checkSubresources(version.subresources, child(path, 'subresources')));
  for (const [at, column] of (version.additionalPrinterColumns ?? []).entries()) {
    found.push(...checkColumn(column, index(child(path, 'additionalPrinterColumns'), at)));
  }
  const fields = version.selectableFields ?? [];
  if (fields.length === 0) return found;
  const fieldsPath = child(path, 'selectableFields');
  const schema = version.schema?.openAPIV3Schema;
  if (schema === undefined) {
    found.push(invalidValue(fieldsPath, '', 'may only be set when `version.schema.openAPIV3Schema` is not included'));
  } else found.push(...checkSelectableFields(fields, schema, fieldsPath, demands.tooManySelectable.has(version.name)));
  return found;
}

function checkDeprecationWarning(deprecated: boolean, warning: string | undefined): string[] {
  if (warning === undefined) return [];
  if (!deprecated) return ['can only be set for deprecated versions'];
  const complaints: string[] = [];
  if (Buffer.byteLength(warning) > 256) complaints.push('must be <= 256 characters long');
  if (warning === '') complaints.push('must not be an empty string');
  let at = 0;
  for (const character of warning) {
    if (!isPrintable(character)) {
      complaints.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
      break;
    }
    at += Buffer.byteLength(character);
  }
  return complaints;
}

function checkVersionSet(versions: DefinitionVersion[]): FieldError[] {
  const found: FieldError[] = [];
  if (new Set(versions.map((version) => version.name)).size < versions.length) {
    found.push(invalidValue('spec.versions', internalVersions(versions), 'must contain unique version names'));
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    found.push(invalidValue('spec.versions', internalVersions(versions), 'must have exactly one version marked as storage version'));
  }
  const first = versions[0]?.name;
  const complaints = first ? isDns1035Label(first) : [];
  if (complaints.length > 0) found.push(invalidValue('spec.version', first, complaints.join(',')));
  return found;
}

function checkRequiredNames(names: DefinitionNames): FieldError[] {
  const found: FieldError[] = [];
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[name]) found.push(requiredValue(`spec.names.${name}`));
  }
  return [...found, ...checkNames(names, 'spec.names')];
}

function checkNames(names: DefinitionNames | undefined, path: string): FieldError[] {
  const found: FieldError[] = [];
  if (names === undefined || names === null) return found;
  for (const name of ['plural', 'singular'] as const) {
    const complaints = names[name] ? isDns1035Label(names[name]) : [];
    if (complaints.length > 0) found.push(invalidValue(child(path, name), names[name], complaints.join(',')));
  }
  for (const name of ['kind', 'listKind'] as const) {
    const complaints = names[name] ? isDns1035Label(names[name].toLowerCase()) : [];
    if (complaints.length === 0) continue;
    const detail = `may have mixed case, but should otherwise match: ${complaints.join(',')}`;
    found.push(invalidValue(child(path, name), names[name], detail));
  }
  const checkEach = (field: 'shortNames' | 'categories'): void => {
    for (const [at, value] of (names[field] ?? []).entries()) {
      const complaints = isDns1035Label(value);
      if (complaints.length > 0) found.push(invalidValue(index(child(path, field), at), value, complaints.join(',')));
    }
  };
  checkEach('shortNames');
  if (names.kind && names.kind === names.listKind) {
    found.push(invalidValue(child(path, 'listKind'), names.listKind, 'kind and listKind may not be the same'));
  }
  checkEach('categories');
  return found;
}

function checkStoredVersions(stored: string[], versions: DefinitionVersion[]): FieldError[] {
  const path = 'status.storedVersions';
  if (stored.length === 0) return [invalidValue(path, null, 'must have at least one stored version')];
  const found: FieldError[] = [];
  for (const version of versions) {
    if (version.storage && !stored.includes(version.name)) {
      found.push(invalidValue(path, stored, `must have the storage version ${version.name}`));
    }
  }
  for (const [at, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    found.push(invalidValue(index(path, at), name, detail));
  }
  return found;
}

function checkImmutable(definition: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const found: FieldError[] = [];
  const compare = (path: string, value: string | undefined, before: string | undefined): void => {
    if ((value ?? '') !== (before ?? '')) found.push(invalidValue(path, value ?? '', 'field is immutable'));
  };
  if (isConditionTrue(old, 'Established')) {
    compare('spec.scope', definition.spec.scope, old.spec.scope);
    compare('spec.names.kind', definition.spec.names?.kind, old.spec.names.kind);
  }
  compare('spec.group', definition.spec.group, old.spec.group);
  compare('spec.names.plural', definition.spec.names?.plural, old.spec.names.plural);
  return found;
}
