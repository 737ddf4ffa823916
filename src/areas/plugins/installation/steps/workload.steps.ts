import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { Deployment, HorizontalPodAutoscaler, Service } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { done, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { needsEvents } from '../../kafka/model/wanted-events.ts';
import { typesOf } from '../../kafka/plugin-events.ts';
import { takeBack, type TakeBackPorts } from '../../rollout/take-back.ts';
import { resolveSecrets } from '../../secrets/resolve-secrets.ts';
import type { SecretBackend } from '../../secrets/secret-backend.ts';
import { autoscalers, deployment, services, workloadOf } from '../../workload/deployment.ts';
import { workloadHealth } from '../../workload/workload-health.ts';
import type { Target } from '../model/target.ts';
import type { PluginObjects } from '../plugin-objects.ts';
import type { VersionsOf } from './kept.steps.ts';

export interface WorkloadPorts {
  target(installation: PluginInstallation): Target;
  versions: VersionsOf;
  keep: PluginObjects['keep'];
  backend: Pick<SecretBackend, 'read'>;
  /** Requests go to Pods in a cluster, and are to: the host has none. */
  isElsewhere(installation: PluginInstallation): boolean;
}

/** What runs a version. */
export function deployed(target: Target, backend: Pick<SecretBackend, 'read'>, isElsewhere = false): KubeObject {
  const hasDatabase = target.manifest.spec.database !== undefined;
  const hasEvents = needsEvents(typesOf([target]));
  const secrets = resolveSecrets(target, backend);
  return deployment(target, { image: target.version.status!.image!, secrets, hasDatabase, hasEvents, isElsewhere });
}

/** The wanted version is there, beside those that requests still go to. */
export function workloadDeployed({ target, versions, keep, backend, isElsewhere }: WorkloadPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.WorkloadDeployed,
    async run(installation) {
      const wanted = target(installation);
      const all = versions(installation, wanted);
      const isIdle = isElsewhere(installation);
      const workloads = all.map((each) => deployed(each, backend, isIdle));
      await Promise.all([
        keep(Service, wanted.namespace, 'workload', all.flatMap(services)),
        keep(Deployment, wanted.namespace, 'workload', workloads),
        keep(HorizontalPodAutoscaler, wanted.namespace, 'workload', isIdle ? [] : all.flatMap(autoscalers)),
      ]);
      installation.status!.target!.isDeployed = true;
      return done('Deployed', wanted.version.status!.image);
    },
  };
}

export interface ProbesPorts extends TakeBackPorts {
  target(installation: PluginInstallation): Target;
  deployment(namespace: string, name: string): KubeObject | undefined;
  /** Of the Pods of a Deployment. */
  restarts(namespace: string, workload: string): number;
}

/**
 * The wanted version answers. In an upgrade the one that does not is taken back: when it is stuck, and at once when requests go to it. What
 * was deployed in this round may not be in the cache yet: then what is there is of another image.
 */
export function probesPassed(ports: ProbesPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.ProbesPassed,
    run(installation, { now }) {
      const wanted = ports.target(installation);
      const { namespace, version } = wanted;
      const workload = workloadOf(wanted);
      const found = ports.deployment(namespace, workload);
      const runs: string | undefined = found?.spec.template.spec.containers[0].image;
      const current = runs === version.status!.image ? found : undefined;
      const outcome = workloadHealth(current, ports.restarts(namespace, workload), now());
      if (outcome.type === 'done') return wanted.isSuspended ? done(InstallationReason.Suspended, 'scaled to zero') : outcome;
      const breach = wanted.isSuspended ? undefined : breachOf(outcome, installation, version.spec.version, current);
      if (breach === 'none') return done('Serving', outcome.message);
      return (breach && takeBack(ports, installation, breach, now())) ?? outcome;
    },
  };
}

/** `none`: some of it answers, and that is enough to go on judging it by its requests. */
function breachOf(outcome: Outcome, { status }: PluginInstallation, version: string, deployed: KubeObject | undefined) {
  const { reason, message } = outcome;
  if (outcome.type === 'stalled') return { reason, message };
  const isNew = status?.version !== version;
  const weight = status?.gateway?.routes?.find((route) => route.version === version)?.weight ?? 0;
  if (!isNew || weight === 0 || deployed === undefined) return undefined;
  if ((deployed.status?.availableReplicas ?? 0) > 0) return 'none';
  return { reason: InstallationReason.NotReady, message: 'none of it answers any more' };
}
