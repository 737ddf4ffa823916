import type { OnDemand } from './start-on-demand.ts';

/** The controllers of workloads; each starts with the first object of its kind. */
export const WORKLOAD_CONTROLLERS: readonly OnDemand[] = [
  { resources: ['apps/deployments'], load: async () => (await import('./deployment/deployment.controller.ts')).deploymentController },
  { resources: ['apps/replicasets'], load: async () => (await import('./replica-set/replica-set.controller.ts')).replicaSetController },
  {
    resources: ['/replicationcontrollers'],
    load: async () => (await import('./replica-set/replica-set.controller.ts')).replicationController,
  },
  { resources: ['apps/statefulsets'], load: async () => (await import('./stateful-set/stateful-set.controller.ts')).statefulSetController },
  { resources: ['apps/daemonsets'], load: async () => (await import('./daemon-set/daemon-set.controller.ts')).daemonSetController },
  { resources: ['batch/jobs'], load: async () => (await import('./job/job.controller.ts')).jobController },
  { resources: ['batch/cronjobs'], load: async () => (await import('./cron-job/cron-job.controller.ts')).cronJobController },
  {
    resources: ['autoscaling/horizontalpodautoscalers'],
    load: async () =>
      (await import('./horizontal-pod-autoscaler/horizontal-pod-autoscaler.controller.ts')).horizontalPodAutoscalerController,
  },
  {
    resources: ['policy/poddisruptionbudgets'],
    load: async () => (await import('./disruption/disruption.controller.ts')).disruptionController,
  },
  {
    resources: ['/pods'],
    load: async () => (await import('./ephemeral-volume/ephemeral-volume.controller.ts')).ephemeralVolumeController,
  },
];
