import { fieldErrorText, type FieldError } from '../../../kube/field-error.ts';
import { deepCopy, deepEqual, isJsonObject } from '../../../kube/json-value.ts';
import { validateAnnotations, validateLabels } from '../../../kube/metadata-validation.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { failure } from '../../../kube/status.ts';
import { aggregateText } from '../schema/findings.ts';
import type { CustomResourceDefinition } from './definition.ts';

/** Asks the conversion webhook of a CRD. Given by the caller: it knows how to reach webhooks. */
export type ConvertObjects = (
  definition: CustomResourceDefinition,
  objects: KubeObject[],
  desiredApiVersion: string,
) => Promise<KubeObject[]>;

/** Without a webhook only the version changes. */
export function convertByName(object: KubeObject, desiredApiVersion: string): KubeObject {
  const copy = deepCopy(object);
  copy.apiVersion = desiredApiVersion;
  return copy;
}

export async function convertByWebhook(
  definition: CustomResourceDefinition,
  object: KubeObject,
  desiredApiVersion: string,
  convert: ConvertObjects,
): Promise<KubeObject> {
  if (object.apiVersion === desiredApiVersion) return object;
  const [group, version] = object.apiVersion.split('/');
  const subject = `conversion webhook for ${group}/${version}, Kind=${object.kind}`;
  let converted: KubeObject[];
  try {
    converted = await convert(definition, [object], desiredApiVersion);
  } catch (error) {
    throw failure('InternalError', `Internal error occurred: ${subject} failed: ${(error as Error).message}`);
  }
  if (converted.length !== 1) throw refuse(`${subject} returned ${converted.length} objects, expected 1`);
  const complaint = checkConverted(object, converted[0], desiredApiVersion);
  if (complaint !== undefined) throw refuse(`${subject} returned invalid ${complaint}`);
  return restoreMetadata(object, converted[0], subject);
}

function refuse(message: string): Error {
  return failure('InternalError', `Internal error occurred: ${message}`);
}

/** Everything but labels and annotations must come back as it was sent. */
function checkConverted(object: KubeObject, converted: KubeObject, desired: string): string | undefined {
  if (!isJsonObject(converted)) return 'object at index 0: not an object';
  if (converted.apiVersion !== desired) {
    return `object at index 0: invalid groupVersion (expected ${desired}, received ${converted.apiVersion})`;
  }
  if (converted.kind !== object.kind) return `object at index 0: invalid kind (expected ${object.kind}, received ${converted.kind})`;
  const [before, after] = [object.metadata, converted.metadata ?? {}];
  const labels = { name: 'name', namespace: 'namespace', uid: 'UID' } as const;
  for (const field of ['name', 'namespace', 'uid'] as const) {
    if ((before[field] ?? '') !== (after[field] ?? '')) {
      return `object: must have the same ${labels[field]}: ${before[field] ?? ''} != ${after[field] ?? ''}`;
    }
  }
  return undefined;
}

function restoreMetadata(object: KubeObject, converted: KubeObject, subject: string): KubeObject {
  const answered = converted.metadata;
  if (!isJsonObject(answered)) throw refuse(`${subject} returned invalid metadata: missing metadata in converted object`);
  const metadata = deepCopy(object.metadata);
  for (const field of ['labels', 'annotations'] as const) {
    const value = answered[field] ?? undefined;
    if (value === undefined) {
      delete metadata[field];
      continue;
    }
    const complaint = checkStringMap(value, metadata[field], field);
    if (complaint !== undefined) throw refuse(`${subject} returned invalid metadata: ${complaint}`);
    metadata[field] = value;
  }
  return { ...converted, metadata };
}

function checkStringMap(value: unknown, before: unknown, field: 'labels' | 'annotations'): string | undefined {
  if (!isJsonObject(value)) return `invalid metadata.${field} of type ${typeof value} in converted object`;
  const wrong = Object.keys(value).find((name) => typeof value[name] !== 'string');
  if (wrong !== undefined) return `metadata.${field}[${wrong}] must be a string, but is ${typeof value[wrong]} in converted object`;
  if (deepEqual(value, before)) return undefined;
  const found: FieldError[] =
    field === 'labels' ? validateLabels(value, 'metadata.labels') : validateAnnotations(value, 'metadata.annotation');
  return found.length === 0 ? undefined : aggregateText(found.map(fieldErrorText));
}
