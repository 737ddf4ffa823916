import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { Deployment, HorizontalPodAutoscaler, Service } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { done } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { resolveSecrets } from '../../secrets/resolve-secrets.ts';
import type { SecretBackend } from '../../secrets/secret-backend.ts';
import { autoscalers, deployment, services, WORKLOAD } from '../../workload/deployment.ts';
import { rolloutOf } from '../../workload/rollout.ts';
import type { Target } from '../model/target.ts';
import type { PluginObjects } from '../plugin-objects.ts';

export interface WorkloadPorts {
  target(installation: PluginInstallation): Target;
  keep: PluginObjects['keep'];
  backend: Pick<SecretBackend, 'read'>;
}

export function workloadDeployed({ target, keep, backend }: WorkloadPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.WorkloadDeployed,
    async run(installation) {
      const wanted = target(installation);
      const image = wanted.version.status!.image!;
      const secrets = resolveSecrets(wanted, backend);
      await Promise.all([
        keep(Service, wanted.namespace, 'workload', services(wanted)),
        keep(Deployment, wanted.namespace, 'workload', [
          deployment(wanted, { image, secrets, hasDatabase: wanted.manifest.spec.database !== undefined }),
        ]),
        keep(HorizontalPodAutoscaler, wanted.namespace, 'workload', autoscalers(wanted)),
      ]);
      return done('Deployed', image);
    },
  };
}

/** What was deployed in this round may not be in the cache yet: then what is there is of another version. */
export function probesPassed(
  target: (installation: PluginInstallation) => Target,
  find: (namespace: string, name: string) => KubeObject | undefined,
): Step<PluginInstallation> {
  return {
    name: InstallationCondition.ProbesPassed,
    run(installation) {
      const wanted = target(installation);
      const found = find(wanted.namespace, WORKLOAD);
      const runs: string | undefined = found?.spec.template.spec.containers[0].image;
      const outcome = rolloutOf(runs === wanted.version.status!.image ? found : undefined);
      if (outcome.type === 'done' && wanted.isSuspended) return done(InstallationReason.Suspended, 'scaled to zero');
      return outcome;
    },
  };
}
