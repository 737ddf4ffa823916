import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { Resource } from '../registry/resource.ts';

const PARTS = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/**
 * Whether a merge patch of the status can be applied to a part of the object. What else a custom object holds it keeps as it is, and shares it
 * with the state before: it need not be copied, read and compared for the few values that a controller tells.
 */
export function isPatchOfStatus(resource: Resource, subresource: string, patch: Json): boolean {
  return (
    subresource === 'status' &&
    resource.strategicMerge === false &&
    isJsonObject(patch) &&
    Object.keys(patch).every((key) => PARTS.has(key))
  );
}

export function statusPart(object: KubeObject): KubeObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => PARTS.has(key))) as unknown as KubeObject;
}

/** Whether a patch says nothing of the metadata but, maybe, on which revision it is made: then the metadata need not be read again either. */
export function leavesMetadata(patch: Record<string, Json>): boolean {
  const { metadata } = patch;
  if (metadata === undefined) return true;
  return isJsonObject(metadata) && Object.keys(metadata).every((key) => key === 'resourceVersion' && typeof metadata[key] === 'string');
}

/** What such a patch made of an object without its metadata, with that of the object. */
export function withMetadata(part: KubeObject, { metadata }: KubeObject): KubeObject {
  const resourceVersion = part.metadata.resourceVersion ?? metadata.resourceVersion;
  part.metadata = { ...metadata, resourceVersion };
  return part;
}

/** The part with the rest of the object that it was taken from, in the order of that one. */
export function withRest(part: KubeObject, object: KubeObject): KubeObject {
  const whole: Record<string, Json> = {};
  for (const key in object) if (!PARTS.has(key) || Object.hasOwn(part, key)) whole[key] = PARTS.has(key) ? part[key] : object[key];
  // Its other fields are defaults for what only the part lacked.
  for (const key of PARTS) if (Object.hasOwn(part, key)) whole[key] = part[key];
  return whole as KubeObject;
}
