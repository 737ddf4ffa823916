import { forbidden, invalid, required, tooLong, type FieldError } from './field-error.ts';
import { byteLength, compareText, printStrings } from './go-text.ts';
import { isCanonicalIp } from './ip.ts';
import { validateManagedFields } from './request-options.ts';
import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isPathSegmentName,
  isPathSegmentPrefix,
  isQualifiedName,
} from './names.ts';
import { parseApiVersion, type ObjectMeta, type OwnerReference } from './object.ts';

/** Checks a name, or with `prefix` a generateName, which may end in a dash. */
export type NameRule = (name: string, prefix: boolean) => string[];

/** A trailing dash of a prefix is not the end of the name, so it is hidden from the check; the character before it too, as upstream does. */
function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

export const NAME_RULES: Record<'dns-subdomain' | 'dns-label' | 'dns1035-label' | 'path-segment' | 'ip-address', NameRule> = {
  'dns-subdomain': (name, prefix) => isDns1123Subdomain(prefix ? maskTrailingDash(name) : name),
  'dns-label': (name, prefix) => isDns1123Label(prefix ? maskTrailingDash(name) : name),
  'dns1035-label': (name, prefix) => isDns1035Label(prefix ? maskTrailingDash(name) : name),
  'path-segment': (name, prefix) => (prefix ? isPathSegmentPrefix(name) : isPathSegmentName(name)),
  'ip-address': isCanonicalIp,
};

export const FIELD_IMMUTABLE = 'field is immutable';
export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
const ANNOTATIONS_MAX_BYTES = 256 * 1024;

export function validateLabels(labels: Record<string, string> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key in labels) {
    for (const message of isQualifiedName(key)) errors.push(invalid(field, key, message));
    for (const message of isLabelValue(labels[key])) errors.push(invalid(field, labels[key], message));
  }
  return errors;
}

export function validateAnnotations(annotations: Record<string, string> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  let characters = 0;
  for (const key in annotations) {
    for (const message of isQualifiedName(key.toLowerCase())) errors.push(invalid(field, key, message));
    characters += key.length + annotations[key].length;
  }
  // A character has at most three bytes per UTF-16 unit, so short annotations need no counting.
  if (characters * 3 > ANNOTATIONS_MAX_BYTES) {
    const size = Object.entries(annotations!).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
    if (size > ANNOTATIONS_MAX_BYTES) errors.push(tooLong(field, ANNOTATIONS_MAX_BYTES));
  }
  return errors;
}

function validateOwnerReference(reference: OwnerReference, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const apiVersion = reference.apiVersion ?? '';
  const { group, version } = parseApiVersion(apiVersion);
  if (version === '' || version.includes('/')) errors.push(invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty'));
  if (!reference.kind) errors.push(invalid(`${field}.kind`, '', 'must not be empty'));
  if (!reference.name) errors.push(invalid(`${field}.name`, '', 'must not be empty'));
  if (!reference.uid) errors.push(invalid(`${field}.uid`, '', 'must not be empty'));
  if (group === '' && version === 'v1' && reference.kind === 'Event') {
    errors.push(invalid(field, reference, '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
}

export function validateOwnerReferences(references: OwnerReference[] | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  let first = '';
  for (const reference of references ?? []) {
    errors.push(...validateOwnerReference(reference, field));
    if (reference.controller !== true) continue;
    const current = `${reference.kind}/${reference.name}`;
    if (first !== '') {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${current}`;
      errors.push(invalid(field, references, detail));
    } else first = current;
  }
  return errors;
}

export function validateFinalizers(finalizers: string[] | undefined, field: string): FieldError[] {
  if (!finalizers) return [];
  const errors = finalizers.flatMap((name) => isQualifiedName(name).map((message) => invalid(field, name, message)));
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_FINALIZER)) {
    errors.push(invalid(field, finalizers, `finalizer ${ORPHAN_FINALIZER} and ${FOREGROUND_FINALIZER} cannot be both set`));
  }
  return errors;
}

function validateNamespace(namespace: string | undefined, namespaced: boolean, field: string): FieldError[] {
  if (!namespaced) return namespace ? [forbidden(field, 'not allowed on this type')] : [];
  if (!namespace) return [required(field)];
  return isDns1123Label(namespace).map((message) => invalid(field, namespace, message));
}

/** Checks metadata of any object. On updates Kubernetes runs it too, with the path-segment rule. */
export function validateObjectMeta(meta: ObjectMeta, namespaced: boolean, rule: NameRule, field = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  const { name, generateName } = meta;
  if (generateName) for (const message of rule(generateName, true)) errors.push(invalid(`${field}.generateName`, generateName, message));
  if (!name) errors.push(required(`${field}.name`, 'name or generateName is required'));
  else for (const message of rule(name, false)) errors.push(invalid(`${field}.name`, name, message));
  errors.push(...validateNamespace(meta.namespace, namespaced, `${field}.namespace`));
  if ((meta.generation ?? 0) < 0) errors.push(invalid(`${field}.generation`, meta.generation, 'must be greater than or equal to 0'));
  errors.push(...validateLabels(meta.labels, `${field}.labels`));
  errors.push(...validateAnnotations(meta.annotations, `${field}.annotations`));
  if (meta.ownerReferences) errors.push(...validateOwnerReferences(meta.ownerReferences, `${field}.ownerReferences`));
  errors.push(...validateFinalizers(meta.finalizers, `${field}.finalizers`));
  if (meta.managedFields) errors.push(...validateManagedFields(meta.managedFields, `${field}.managedFields`));
  return errors;
}

function immutable(field: string, next: unknown, old: unknown): FieldError[] {
  return next === old ? [] : [invalid(field, next, FIELD_IMMUTABLE)];
}

function validateNoNewFinalizers(next: string[] = [], old: string[] = [], field: string): FieldError[] {
  const extra = [...new Set(next)].filter((name) => !old.includes(name)).sort(compareText);
  if (extra.length === 0) return [];
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${printStrings(extra)}`;
  return [forbidden(field, detail)];
}

/** What an update may not do to metadata, whatever the kind. */
export function validateObjectMetaUpdate(next: ObjectMeta, old: ObjectMeta, field = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp) errors.push(...validateNoNewFinalizers(next.finalizers, old.finalizers, `${field}.finalizers`));
  if (!next.resourceVersion) errors.push(invalid(`${field}.resourceVersion`, '', 'must be specified for an update'));
  if ((next.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(`${field}.generation`, next.generation ?? 0, 'must not be decremented'));
  }
  for (const key of ['name', 'namespace', 'uid'] as const) errors.push(...immutable(`${field}.${key}`, next[key] ?? '', old[key] ?? ''));
  for (const key of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    errors.push(...immutable(`${field}.${key}`, next[key] ?? null, old[key] ?? null));
  }
  errors.push(...validateLabels(next.labels, `${field}.labels`));
  errors.push(...validateAnnotations(next.annotations, `${field}.annotations`));
  if (next.ownerReferences) errors.push(...validateOwnerReferences(next.ownerReferences, `${field}.ownerReferences`));
  if (next.managedFields) errors.push(...validateManagedFields(next.managedFields, `${field}.managedFields`));
  return errors;
}
