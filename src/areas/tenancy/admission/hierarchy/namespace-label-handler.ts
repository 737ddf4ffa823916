import { INCLUDED_LABEL } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import type { ReadonlyForest } from '../../forest/forest.ts';
import { whyUnmanaged } from '../../forest/tree-settings.ts';
import { ALLOWED } from './refusal.ts';

/** Puts the label that the other rules select on onto every managed namespace that lacks it. */
export function namespaceLabelHandler({ forest }: { forest: ReadonlyForest }): AdmissionHandler {
  return ({ object }) => {
    const { metadata } = object!;
    if (metadata.labels?.[INCLUDED_LABEL] !== undefined || whyUnmanaged(forest.settings, metadata.name) !== undefined) return ALLOWED;
    return { allowed: true, object: { ...object!, metadata: { ...metadata, labels: { ...metadata.labels, [INCLUDED_LABEL]: 'true' } } } };
  };
}
