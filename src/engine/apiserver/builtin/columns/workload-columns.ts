import { ageOf, formatAge } from '../../../../kube/age.ts';
import { formatLabelSelector } from '../../../../kube/label-selector.ts';
import type { Json } from '../../../../kube/object.ts';
import { autoscalerToV2 } from '../conversion/autoscalers.ts';
import { formatMetrics } from './autoscaler-metrics.ts';
import { conditionStatus, containerImages, containerNames, formatLabels } from './cell-text.ts';
import type { Cells } from './columns.ts';
import { summarizePod } from './pod-summary.ts';

const TEMPLATE: Cells = {
  Containers: (object) => containerNames(object.spec.template?.spec),
  Images: (object) => containerImages(object.spec.template?.spec),
  Selector: (object) => formatLabelSelector(object.spec.selector),
};

const REPLICAS: Cells = {
  ...TEMPLATE,
  Desired: (object) => object.spec.replicas ?? 0,
  Current: (object) => object.status?.replicas ?? 0,
  Ready: (object) => object.status?.readyReplicas ?? 0,
};

const READY_OF_WANTED: Cells[string] = (object) => `${object.status?.readyReplicas ?? 0}/${object.spec.replicas ?? 0}`;

const POD: Cells = {
  Ready: (pod, now) => summarizePod(pod, now).ready,
  Status: (pod, now) => summarizePod(pod, now).status,
  Restarts: (pod, now) => summarizePod(pod, now).restarts,
  IP: (pod) => pod.status?.podIPs?.[0]?.ip || '<none>',
  Node: (pod) => pod.spec.nodeName || '<none>',
  'Nominated Node': (pod) => pod.status?.nominatedNodeName || '<none>',
  'Readiness Gates': readinessGates,
};

function readinessGates(pod: Json): string {
  const gates: Json[] = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  return `${gates.filter((gate) => conditionStatus(pod, gate.conditionType) === 'True').length}/${gates.length}`;
}

const JOB_STATES: [condition: string, shown: string][] = [
  ['Suspended', 'Suspended'],
  ['FailureTarget', 'FailureTarget'],
  ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
];

function jobStatus(job: Json): string {
  if (conditionStatus(job, 'Complete') === 'True') return 'Complete';
  if (conditionStatus(job, 'Failed') === 'True') return 'Failed';
  if (job.metadata.deletionTimestamp) return 'Terminating';
  return JOB_STATES.find(([condition]) => conditionStatus(job, condition) === 'True')?.[1] ?? 'Running';
}

function jobCompletions({ spec, status }: Json): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  return spec.parallelism > 1 ? `${succeeded}/1 of ${spec.parallelism}` : `${succeeded}/1`;
}

function jobDuration({ status }: Json, now: Date): string {
  if (!status?.startTime) return '';
  const end = status.completionTime ? Date.parse(status.completionTime) : now.getTime();
  return formatAge(end - Date.parse(status.startTime));
}

const CRON_JOB: Cells = {
  Schedule: (job) => job.spec.schedule,
  Timezone: (job) => job.spec.timeZone ?? '<none>',
  Suspend: (job) => (job.spec.suspend === undefined ? '<unset>' : job.spec.suspend ? 'True' : 'False'),
  Active: (job) => job.status?.active?.length ?? 0,
  'Last Schedule': (job, now) => (job.status?.lastScheduleTime ? ageOf(job.status.lastScheduleTime, now) : '<none>'),
  Containers: (job) => containerNames(job.spec.jobTemplate.spec?.template?.spec),
  Images: (job) => containerImages(job.spec.jobTemplate.spec?.template?.spec),
  Selector: (job) => formatLabelSelector(job.spec.jobTemplate.spec?.selector),
};

const AUTOSCALER: Cells = {
  Reference: ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
  Targets(autoscaler) {
    const { spec, status } = autoscaler.apiVersion === 'autoscaling/v1' ? autoscalerToV2(autoscaler) : autoscaler;
    return formatMetrics(spec.metrics, status?.currentMetrics);
  },
  MinPods: ({ spec }) => (spec.minReplicas === undefined ? '<unset>' : String(spec.minReplicas)),
  MaxPods: ({ spec }) => spec.maxReplicas ?? 0,
  Replicas: ({ status }) => status?.currentReplicas ?? 0,
};

function controllerOf({ metadata }: Json): string {
  const owner = metadata.ownerReferences?.find((reference: Json) => reference.controller);
  if (!owner) return '<none>';
  const [group, version] = owner.apiVersion.split('/');
  return `${(version === undefined ? owner.kind : `${owner.kind}.${group}`).toLowerCase()}/${owner.name}`;
}

function budget(value: Json): string {
  return value === undefined ? 'N/A' : String(value);
}

export const WORKLOAD_CELLS: Record<string, Cells> = {
  '/pods': POD,
  '/podtemplates': {
    Containers: ({ template }) => containerNames(template?.spec),
    Images: ({ template }) => containerImages(template?.spec),
    'Pod Labels': ({ template }) => formatLabels(template?.metadata?.labels),
  },
  '/replicationcontrollers': { ...REPLICAS, Selector: (controller) => formatLabels(controller.spec.selector) },
  'apps/replicasets': REPLICAS,
  'apps/deployments': {
    ...TEMPLATE,
    Ready: READY_OF_WANTED,
    'Up-to-date': ({ status }) => status?.updatedReplicas ?? 0,
    Available: ({ status }) => status?.availableReplicas ?? 0,
  },
  'apps/statefulsets': { ...TEMPLATE, Ready: READY_OF_WANTED },
  'apps/daemonsets': {
    ...TEMPLATE,
    Desired: ({ status }) => status?.desiredNumberScheduled ?? 0,
    Current: ({ status }) => status?.currentNumberScheduled ?? 0,
    Ready: ({ status }) => status?.numberReady ?? 0,
    'Up-to-date': ({ status }) => status?.updatedNumberScheduled ?? 0,
    Available: ({ status }) => status?.numberAvailable ?? 0,
    'Node Selector': ({ spec }) => formatLabels(spec.template?.spec?.nodeSelector),
  },
  'apps/controllerrevisions': { Controller: controllerOf, Revision: ({ revision }) => revision ?? 0 },
  'batch/jobs': { ...TEMPLATE, Status: jobStatus, Completions: jobCompletions, Duration: jobDuration },
  'batch/cronjobs': CRON_JOB,
  'autoscaling/horizontalpodautoscalers': AUTOSCALER,
  'policy/poddisruptionbudgets': {
    'Min Available': ({ spec }) => budget(spec.minAvailable),
    'Max Unavailable': ({ spec }) => budget(spec.maxUnavailable),
    'Allowed Disruptions': ({ status }) => status?.disruptionsAllowed ?? 0,
  },
};
