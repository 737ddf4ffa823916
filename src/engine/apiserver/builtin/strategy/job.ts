import type { Json } from '../../../../kube/object.ts';
import type { KindBehaviour } from './standard.ts';

const NAME_LABELS = ['job-name', 'batch.kubernetes.io/job-name'];
const UID_LABELS = ['controller-uid', 'batch.kubernetes.io/controller-uid'];

export const JOB: KindBehaviour = {
  tracksGeneration: true,
  addsFields: true,
  // Clients that predate background deletion rely on Pods outliving their Job.
  defaultPropagation: 'Orphan',
  onCreate: selectOwnPods,
};

/** Unless told to take a selector as it is, a Job selects the Pods that carry its own uid. */
function selectOwnPods(job: Json): void {
  const { spec, metadata } = job;
  if (spec.manualSelector) return;
  const template = (spec.template.metadata ??= {});
  const labels: Record<string, string> = { ...template.labels };
  for (const label of NAME_LABELS) labels[label] ??= metadata.name ?? '';
  for (const label of UID_LABELS) labels[label] ??= metadata.uid ?? '';
  template.labels = Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
  const selector = { ...spec.selector };
  selector.matchLabels = { [UID_LABELS[1]]: metadata.uid ?? '', ...selector.matchLabels };
  spec.selector = selector;
}
