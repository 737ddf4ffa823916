import { forbidden, invalid, notSupported, required, tooLong, type FieldError } from './field-error.ts';
import { byteLength, isPrintable, unicodeNotation } from './go-text.ts';
import type { ManagedFieldsEntry } from './object.ts';

/** What a request may ask for beside its object, and the messages when it asks for something else. */
export interface WriteOptions {
  fieldManager?: string;
  dryRun?: string[];
  fieldValidation?: string;
  force?: boolean;
}

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  orphanDependents?: boolean;
  propagationPolicy?: string;
  dryRun?: string[];
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

const FIELD_MANAGER_MAX_BYTES = 128;
const SUBRESOURCE_MAX_BYTES = 256;

export function validateFieldManager(manager: string, field = 'fieldManager'): FieldError[] {
  if (manager.length <= FIELD_MANAGER_MAX_BYTES && /^[\x20-\x7e]*$/.test(manager)) return [];
  const errors: FieldError[] = [];
  if (byteLength(manager) > FIELD_MANAGER_MAX_BYTES) errors.push(tooLong(field, FIELD_MANAGER_MAX_BYTES));
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      errors.push(invalid(field, manager, `invalid character ${unicodeNotation(character)} (at position ${position})`));
    }
    position += byteLength(character);
  }
  return errors;
}

function validateDryRun(dryRun: string[] | undefined): FieldError[] {
  return dryRun?.some((value) => value !== 'All') ? [notSupported('dryRun', dryRun, ['All'])] : [];
}

function validateFieldValidation(value: string | undefined): FieldError[] {
  const allowed = ['', 'Ignore', 'Strict', 'Warn'];
  return value === undefined || allowed.includes(value) ? [] : [notSupported('fieldValidation', value, allowed)];
}

/** For creates and updates. */
export function validateWriteOptions(options: WriteOptions): FieldError[] {
  return [
    ...validateFieldManager(options.fieldManager ?? ''),
    ...validateDryRun(options.dryRun),
    ...validateFieldValidation(options.fieldValidation),
  ];
}

export function validatePatchOptions(options: WriteOptions, isApply: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (isApply && !options.fieldManager) errors.push(required('fieldManager', 'is required for apply patch'));
  if (!isApply && options.force !== undefined) errors.push(forbidden('force', 'may not be specified for non-apply patch'));
  return [...errors, ...validateWriteOptions(options)];
}

export function validateDeleteOptions(options: DeleteOptions): FieldError[] {
  const errors: FieldError[] = [];
  const { propagationPolicy } = options;
  if (options.orphanDependents !== undefined && propagationPolicy !== undefined) {
    errors.push(invalid('propagationPolicy', propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'));
  }
  if (propagationPolicy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(propagationPolicy)) {
    errors.push(notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']));
  }
  errors.push(...validateDryRun(options.dryRun));
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential !== true) return errors;
  const clashes: [string, unknown][] = [
    ['dryRun', options.dryRun?.length || undefined],
    ['propagationPolicy', options.propagationPolicy],
    ['orphanDependents', options.orphanDependents],
    ['gracePeriodSeconds', options.gracePeriodSeconds],
    ['preconditions', options.preconditions],
  ];
  for (const [name, value] of clashes) {
    if (value === undefined) continue;
    errors.push(invalid('ignoreStoreReadErrorWithClusterBreakingPotential', true, `cannot be set together with .${name}`));
  }
  return errors;
}

export function validateManagedFields(entries: readonly ManagedFieldsEntry[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  entries.forEach((entry, index) => {
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(invalid(`${field}[${index}].operation`, entry.operation ?? '', 'must be `Apply` or `Update`'));
    }
    if (entry.fieldsType && entry.fieldsType !== 'FieldsV1') {
      errors.push(invalid(`${field}[${index}].fieldsType`, entry.fieldsType, 'must be `FieldsV1`'));
    }
    errors.push(...validateFieldManager(entry.manager ?? '', `${field}[${index}].manager`));
    if (byteLength(entry.subresource ?? '') > SUBRESOURCE_MAX_BYTES) {
      errors.push(tooLong(`${field}[${index}].subresource`, SUBRESOURCE_MAX_BYTES));
    }
  });
  return errors;
}
