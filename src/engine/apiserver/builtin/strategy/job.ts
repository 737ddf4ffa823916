import type { Json } from '../../../../kube/object.ts';
import type { KindBehaviour } from './standard.ts';

const NAME_LABELS = ['job-name', 'batch.kubernetes.io/job-name'];
const UID_LABELS = ['controller-uid', 'batch.kubernetes.io/controller-uid'];

export const JOB: KindBehaviour = {
  tracksGeneration: true,
  addsFields: true,
  // Clients that predate background deletion rely on Pods outliving their Job.
  defaultPropagation: 'Orphan',
  onCreate(job) {
    if (!job.spec.manualSelector) selectOwnPods(job);
    takeLabels(job);
  },
  onUpdate: takeLabels,
};

/** Unless told to take a selector as it is, a Job selects the Pods that carry its own uid. */
function selectOwnPods({ spec, metadata }: Json): void {
  const template = (spec.template.metadata ??= {});
  const labels: Record<string, string> = { ...template.labels };
  for (const label of NAME_LABELS) labels[label] ??= metadata.name ?? '';
  for (const label of UID_LABELS) labels[label] ??= metadata.uid ?? '';
  template.labels = Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
  spec.selector = { ...spec.selector, matchLabels: { [UID_LABELS[1]]: metadata.uid ?? '', ...spec.selector?.matchLabels } };
}

/** A Job without labels has those of its Pods, the ones above included: kube-apiserver applies this default when it reads what it stored. */
function takeLabels(job: Json): void {
  const { labels } = job.spec.template.metadata ?? {};
  if (labels) job.metadata.labels ??= { ...labels };
}
