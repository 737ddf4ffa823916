import { COST_LABELS_ANNOTATION, RUN_SHARE_ANNOTATION } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Json } from '../../../../kube/object.ts';

export interface Metadata {
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
}

const POD_SECURITY = 'pod-security.kubernetes.io/';

/**
 * The merge patch that makes a namespace of the tenant carry what the Tenant says of all of them; undefined when it does. Which tenant it
 * belongs to is not part of it: the tree says that.
 */
export function metadataPatch(spec: Tenant['spec'], { labels = {}, annotations = {} }: Metadata, ofOwners: boolean): Json {
  const costLabels = spec.labels ?? {};
  const keys = Object.keys(costLabels).sort();
  const wantedLabels: Record<string, string | null> = {};
  for (const gone of costKeys(annotations)) wantedLabels[gone] = null;
  Object.assign(wantedLabels, costLabels);
  if (ofOwners) {
    const level = spec.podSecurity ?? 'baseline';
    for (const mode of ['enforce', 'warn']) wantedLabels[`${POD_SECURITY}${mode}`] = level;
  }
  const wantedAnnotations: Record<string, string | null> = {
    [RUN_SHARE_ANNOTATION]: spec.runs?.share === undefined ? null : String(spec.runs.share),
    [COST_LABELS_ANNOTATION]: keys.length > 0 ? keys.join(',') : null,
  };
  return metadataDifference({ labels, annotations }, { labels: wantedLabels, annotations: wantedAnnotations });
}

/** The merge patch for those of the wanted entries that are not so; null means absent. */
export function metadataDifference(
  { labels = {}, annotations = {} }: Metadata,
  wanted: { labels?: Record<string, string | null>; annotations?: Record<string, string | null> },
): Json {
  const metadata: Json = {};
  const changedLabels = difference(labels, wanted.labels ?? {});
  const changedAnnotations = difference(annotations, wanted.annotations ?? {});
  if (changedLabels) metadata.labels = changedLabels;
  if (changedAnnotations) metadata.annotations = changedAnnotations;
  return changedLabels || changedAnnotations ? { metadata } : undefined;
}

function difference(
  current: Readonly<Record<string, string>>,
  wanted: Record<string, string | null>,
): Record<string, string | null> | undefined {
  const changed = Object.entries(wanted).filter(([key, value]) => (current[key] ?? null) !== value);
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

function costKeys(annotations: Readonly<Record<string, string>>): string[] {
  return (annotations[COST_LABELS_ANNOTATION] ?? '').split(',').filter((key) => key !== '');
}
