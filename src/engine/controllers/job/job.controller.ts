import { Job } from '../../../client/kinds.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';
import { Expectations } from '../workload/expectations.ts';
import { podInformer, wakeOwners, workloadInformer } from '../workload/informers.ts';
import { JobReconciler } from './job-reconciler.ts';
import { orphanPodsController } from './orphan-pods.ts';

export function jobController(environment: Environment): Running {
  const { clock, log, metrics } = environment;
  const jobs = workloadInformer(environment, Job);
  const pods = podInformer(environment);
  const expectations = new Expectations(pods, () => clock.now());
  const reconciler = new JobReconciler(environment, jobs, pods, expectations);
  const controller = new Controller({
    name: 'job',
    clock,
    log,
    metrics,
    concurrency: 5,
    reconcile: (key, context) => reconciler.reconcile(key, context),
  });
  const selects = (job: KubeObject, pod: KubeObject): boolean => labelSelectorMatcher(job.spec?.selector).matches(pod.metadata.labels);
  controller
    .watch(jobs)
    .watch(pods, wakeOwners(Job, jobs, selects))
    .start();
  const orphans = orphanPodsController(environment, jobs, pods);
  return {
    async stop() {
      expectations.close();
      await Promise.all([controller.stop(), orphans.stop()]);
    },
  };
}
