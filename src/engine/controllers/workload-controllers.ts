import type { OnDemand } from './start-on-demand.ts';

/** The controllers of workloads; each starts with the first object of its kind. */
export const WORKLOAD_CONTROLLERS: readonly OnDemand[] = [
  {
    resources: ['apps/deployments'],
    controller: 'deployment-controller',
    load: async () => (await import('./deployment/deployment.controller.ts')).deploymentController,
  },
  {
    resources: ['apps/replicasets'],
    controller: 'replicaset-controller',
    load: async () => (await import('./replica-set/replica-set.controller.ts')).replicaSetController,
  },
  {
    resources: ['/replicationcontrollers'],
    controller: 'replication-controller',
    load: async () => (await import('./replica-set/replica-set.controller.ts')).replicationController,
  },
  {
    resources: ['apps/statefulsets'],
    controller: 'statefulset-controller',
    load: async () => (await import('./stateful-set/stateful-set.controller.ts')).statefulSetController,
  },
  {
    resources: ['apps/daemonsets'],
    controller: 'daemonset-controller',
    load: async () => (await import('./daemon-set/daemon-set.controller.ts')).daemonSetController,
  },
  { resources: ['batch/jobs'], controller: 'job-controller', load: async () => (await import('./job/job.controller.ts')).jobController },
  {
    resources: ['batch/cronjobs'],
    controller: 'cronjob-controller',
    load: async () => (await import('./cron-job/cron-job.controller.ts')).cronJobController,
  },
  {
    resources: ['autoscaling/horizontalpodautoscalers'],
    controller: 'horizontal-pod-autoscaler',
    load: async () =>
      (await import('./horizontal-pod-autoscaler/horizontal-pod-autoscaler.controller.ts')).horizontalPodAutoscalerController,
  },
  {
    resources: ['policy/poddisruptionbudgets'],
    load: async () => (await import('./disruption/disruption.controller.ts')).disruptionController,
  },
  {
    resources: ['/pods'],
    controller: 'ephemeral_volume',
    load: async () => (await import('./ephemeral-volume/ephemeral-volume.controller.ts')).ephemeralVolumeController,
  },
];
