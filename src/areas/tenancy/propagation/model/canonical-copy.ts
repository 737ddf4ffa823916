import { APP_MANAGED_BY, EVENT_SOURCE, INHERITED_FROM } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { PROPAGATE_TO_PLATFORM } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { PropagationSettings } from './propagation-settings.ts';

type Entries = Record<string, string>;

export function isCopy({ metadata }: KubeObject): boolean {
  return metadata.labels?.[INHERITED_FROM] !== undefined;
}

/** Nothing has changed that anybody but the tree may write: status and the bookkeeping of metadata left aside. */
export function sameButStatus(before: KubeObject, after: KubeObject): boolean {
  const same = (a: Entries = {}, b: Entries = {}): boolean => deepEqual(a, b);
  return (
    sameFields(before, after) &&
    same(before.metadata.labels, after.metadata.labels) &&
    same(before.metadata.annotations, after.metadata.annotations)
  );
}

/** Whether a copy says what its source says. */
export function isInSync(copy: KubeObject, source: KubeObject, settings: PropagationSettings): boolean {
  if (copy.metadata.labels?.[INHERITED_FROM] !== source.metadata.namespace) return false;
  return (
    sameFields(copy, source) &&
    deepEqual(ownEntries(copy.metadata.labels, settings.unpropagatedLabels), copiedLabels(source, settings)) &&
    deepEqual(ownEntries(copy.metadata.annotations, settings.unpropagatedAnnotations), copiedAnnotations(source, settings))
  );
}

/** Nothing that decides about copies has changed between two states of a source. */
export function sameForCopies(before: KubeObject, after: KubeObject): boolean {
  return sameButStatus(before, after) && !before.metadata.finalizers?.length === !after.metadata.finalizers?.length;
}

/**
 * The copy of a source for a namespace. What the copy has of its own (the finalizers and owners that somebody gave it there, a status that
 * is written with the rest of the object) stays; it is written only over the state that was looked at.
 */
export function copyOf(source: KubeObject, namespace: string, existing: KubeObject | undefined, settings: PropagationSettings): KubeObject {
  const { metadata, status: _, ...fields } = source;
  const labels = { ...copiedLabels(source, settings), [INHERITED_FROM]: metadata.namespace! };
  const copied = { name: metadata.name, namespace, labels, annotations: copiedAnnotations(source, settings) };
  if (!existing) return { ...fields, metadata: copied };
  const { uid, resourceVersion, finalizers, ownerReferences } = existing.metadata;
  const kept = { uid, resourceVersion, ...(finalizers ? { finalizers } : {}), ...(ownerReferences ? { ownerReferences } : {}) };
  const status = existing['status'] === undefined ? {} : { status: existing['status'] };
  return { ...fields, metadata: { ...copied, ...kept }, ...status };
}

function copiedLabels({ metadata }: KubeObject, { unpropagatedLabels }: PropagationSettings): Entries {
  return { ...ownEntries(metadata.labels, unpropagatedLabels), [APP_MANAGED_BY]: EVENT_SOURCE };
}

function copiedAnnotations({ metadata }: KubeObject, { unpropagatedAnnotations }: PropagationSettings): Entries {
  return ownEntries(metadata.annotations, unpropagatedAnnotations);
}

/** Without those of the tree itself, which speak of one object only. */
function ownEntries(entries: Readonly<Entries> | undefined, without: readonly string[] = []): Entries {
  const kept: Entries = {};
  for (const key in entries) {
    if (!isTreeKey(key) && key !== PROPAGATE_TO_PLATFORM && !without.includes(key)) kept[key] = entries[key];
  }
  return kept;
}

function isTreeKey(key: string): boolean {
  const slash = key.indexOf('/');
  return slash > 0 && key.slice(0, slash).endsWith(EVENT_SOURCE);
}

function sameFields(a: KubeObject, b: KubeObject): boolean {
  for (const key in a) if (!isApart(key) && !deepEqual(a[key], b[key])) return false;
  for (const key in b) if (!isApart(key) && a[key] === undefined && b[key] !== undefined) return false;
  return true;
}

function isApart(key: string): boolean {
  return key === 'metadata' || key === 'status' || key === 'apiVersion' || key === 'kind';
}
