import { fieldErrorText } from '../../../kube/field-error.ts';
import { quote } from '../../../kube/go-text.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { aggregateText, invalidValue } from '../schema/findings.ts';
import { Pace, runToEnd } from '../schema/slices.ts';
import { checkStructural, unreadable } from '../schema/structural.ts';
import {
  findCondition,
  isConditionTrue,
  setCondition,
  type CustomResourceDefinition,
  type DefinitionCondition,
  type DefinitionNames,
  type DefinitionStatus,
} from './definition.ts';

/** Which of its names a CRD gets, beside the others of its group. Pure: the naming controller writes what this decides. */
export interface NamingDecision {
  acceptedNames: DefinitionNames;
  namesAccepted: DefinitionCondition;
  established: DefinitionCondition;
}

/** @param others the other CRDs; those of other groups do not matter. @returns undefined when nothing is to be decided */
export function decideNames(definition: CustomResourceDefinition, others: Iterable<CustomResourceDefinition>): NamingDecision | undefined {
  const requested = definition.spec.names;
  const accepted: DefinitionNames = definition.status?.acceptedNames ?? { plural: '', kind: '' };
  if (sameNames(requested, accepted)) return undefined;
  const taken = takenNames(definition, others);
  const next: DefinitionNames = { ...accepted };
  let conflict: { reason: string; message: string } | undefined;
  const claim = (field: 'plural' | 'singular' | 'kind' | 'listKind', names: ReadonlySet<string>, reason: string): void => {
    const wanted = requested[field] ?? '';
    if (wanted !== (accepted[field] ?? '') && names.has(wanted)) conflict = { reason, message: `${quote(wanted)} is already in use` };
    else next[field] = wanted;
  };
  claim('plural', taken.resources, 'PluralConflict');
  claim('singular', taken.resources, 'SingularConflict');
  if (!deepEqual(requested.shortNames ?? [], accepted.shortNames ?? [])) {
    const mine = new Set(accepted.shortNames);
    const used = (requested.shortNames ?? []).filter((name) => !mine.has(name) && taken.resources.has(name));
    if (used.length > 0) {
      conflict = { reason: 'ShortNamesConflict', message: aggregateText(used.map((name) => `${quote(name)} is already in use`)) };
    } else next.shortNames = requested.shortNames;
  }
  claim('kind', taken.kinds, 'KindConflict');
  claim('listKind', taken.kinds, 'ListKindConflict');
  next.categories = requested.categories;
  for (const field of ['shortNames', 'categories'] as const) if (next[field] === undefined) delete next[field];
  const namesAccepted: DefinitionCondition =
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict };
  return { acceptedNames: next, namesAccepted, established: establishedBefore(definition, conflict === undefined) };
}

function establishedBefore(definition: CustomResourceDefinition, accepted: boolean): DefinitionCondition {
  const before = findCondition(definition, 'Established');
  if (before?.status === 'True') return before;
  if (accepted) return { type: 'Established', status: 'False', reason: 'Installing', message: 'the initial names have been accepted' };
  return before ?? { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
}

/** What makes a CRD established once its names are, or undefined while they are not or when it already is. */
export function establishedCondition(definition: CustomResourceDefinition): DefinitionCondition | undefined {
  if (!isConditionTrue(definition, 'NamesAccepted') || isConditionTrue(definition, 'Established')) return undefined;
  return { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
}

/** The status of a new definition as the naming controller would leave it; undefined when another one has a name of it. */
export function statusOnceEstablished(
  definition: CustomResourceDefinition,
  others: Iterable<CustomResourceDefinition>,
  now: Date,
): DefinitionStatus | undefined {
  const decision = decideNames(definition, others);
  if (decision?.namesAccepted.status !== 'True') return undefined;
  const draft: CustomResourceDefinition = { ...definition, status: { acceptedNames: decision.acceptedNames } };
  for (const condition of [decision.namesAccepted, decision.established]) setCondition(draft, condition, now);
  setCondition(draft, establishedCondition(draft)!, now);
  return draft.status;
}

function sameNames(left: DefinitionNames, right: DefinitionNames): boolean {
  const plain = (names: DefinitionNames): unknown => [
    names.plural,
    names.singular ?? '',
    names.kind,
    names.listKind ?? '',
    names.shortNames ?? [],
    names.categories ?? [],
  ];
  return deepEqual(plain(left), plain(right));
}

/** Names that CRDs of the group hold, the definition's own included: it may move only to names that nobody has, not even itself. */
function takenNames(
  definition: CustomResourceDefinition,
  others: Iterable<CustomResourceDefinition>,
): { resources: Set<string>; kinds: Set<string> } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const other of [definition, ...others]) {
    const names = other.status?.acceptedNames;
    if (other.spec.group !== definition.spec.group || names === undefined) continue;
    if (other !== definition && other.metadata.name === definition.metadata.name) continue;
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])]) if (name) resources.add(name);
    for (const name of [names.kind, names.listKind]) if (name) kinds.add(name);
  }
  return { resources, kinds };
}

/**
 * The condition NonStructuralSchema of a stored CRD, or undefined when its schemas are structural. A CRD that does not preserve
 * unknown fields was checked when it was written, so that only one that has the condition is looked at again.
 */
export function nonStructuralCondition(definition: CustomResourceDefinition): DefinitionCondition | undefined {
  if (!definition.spec.preserveUnknownFields && findCondition(definition, 'NonStructuralSchema') === undefined) return undefined;
  const texts: string[] = [];
  if (definition.spec.preserveUnknownFields) {
    texts.push(fieldErrorText(invalidValue('spec.preserveUnknownFields', true, 'must be false')));
  }
  for (const [at, version] of definition.spec.versions.entries()) {
    const schema = version.schema?.openAPIV3Schema;
    if (!schema) continue;
    const complaint = runToEnd(unreadable(schema, new Pace()));
    if (complaint !== undefined) {
      const message = `failed to check validation schema for version ${version.name}: ${complaint}`;
      return { type: 'NonStructuralSchema', status: 'Unknown', reason: 'StructuralError', message };
    }
    const path = `spec.versions[${at}].schema.openAPIV3Schema`;
    texts.push(...runToEnd(checkStructural(schema, path, new Pace())).map(fieldErrorText));
  }
  if (texts.length === 0) return undefined;
  return { type: 'NonStructuralSchema', status: 'True', reason: 'Violations', message: aggregateText(texts) };
}
