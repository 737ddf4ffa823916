import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { done, waiting } from '../../../runtime/steps/outcome.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import { pluginNamespaceOf } from '../installation/model/plugin-names.ts';
import type { Target } from '../installation/model/target.ts';
import { contractBetween, isRollingBack } from '../installation/model/wanted-version.ts';
import { workloadOf } from '../workload/deployment.ts';
import { gateBreach, type Breach } from './model/health-gate.ts';
import { wholeTraffic } from './model/next-move.ts';
import { safeRoutes } from './model/safe-routes.ts';
import type { TrafficFacts } from './model/traffic-facts.ts';
import { setRoutes } from './set-routes.ts';
import { takeBack, type TakeBackPorts } from './take-back.ts';
import { countedOf } from './traffic-shifted.step.ts';

export interface SafetyPorts extends TakeBackPorts {
  target(installation: PluginInstallation): Target;
  deployment(namespace: string, name: string): KubeObject | undefined;
  traffic(installation: string, revision: number, wasReported: boolean): TrafficFacts;
}

/**
 * No requests go to a version that is not wanted any more, that was revoked, or that fails. Before everything that can be in the way: the
 * version at work answers, and needs no backend to be given its requests back.
 */
export function trafficSafe(ports: SafetyPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.TrafficSafe,
    run(installation, { now }) {
      const wanted = ports.target(installation);
      if (wanted.isSuspended) return done(InstallationReason.Suspended);
      const breach = breachOf(ports, installation, wanted);
      const taken = breach && takeBack(ports, installation, breach, now());
      // Where there is no way back the steps that follow say so.
      if (taken?.type === 'waiting') return taken;
      const { version } = wanted;
      const target = { version: version.spec.version, isVerified: version.status?.phase === 'VERIFIED' };
      if (!secureRoutes(ports, installation, target, now())) return done('Safe');
      // First the status: gateways go by it, whatever becomes of the steps that follow.
      return waiting(InstallationReason.ShiftingTraffic, `all requests go to ${installation.status!.version}`, 0);
    },
  };
}

function breachOf(ports: SafetyPorts, installation: PluginInstallation, wanted: Target): Breach | undefined {
  const { status = {} } = installation;
  const { gateway = {} } = status;
  const { version, manifest, tenant } = wanted;
  const number = version.spec.version;
  const isGoingBack = isRollingBack(installation) || number === status.version;
  if (isGoingBack || weightOf(installation, number) === 0) return undefined;
  const phase = version.status?.phase;
  if (phase !== undefined && phase !== 'VERIFIED') {
    return { reason: InstallationReason.SignatureInvalid, message: `it is ${phase}, no longer VERIFIED` };
  }
  const traffic = ports.traffic(`${tenant}/${wanted.installation}`, gateway.revision ?? 0, gateway.isReported === true);
  const target = { version: number, workload: workloadOf(wanted) };
  return gateBreach(manifest, wholeTraffic({ target, counted: countedOf(installation), traffic }));
}

export function weightOf({ status }: PluginInstallation, version: string): number {
  return status?.gateway?.routes?.find((route) => route.version === version)?.weight ?? 0;
}

/** Gives the version at work all requests, where it must have them and can answer them. @returns whether anything changed */
export function secureRoutes(
  ports: Pick<SafetyPorts, 'versionsOf' | 'deployment'>,
  installation: PluginInstallation,
  target: { version: string; isVerified: boolean } | undefined,
  now: number,
): boolean {
  const { metadata, spec, status = {} } = installation;
  const { gateway, version: atWork, history = [] } = status;
  const current = gateway?.routes ?? [];
  const routes = safeRoutes({ routes: current, atWork, target });
  if (routes === undefined) return false;
  const { workload } = routes.find(({ weight }) => weight === 100)!;
  const deployed = ports.deployment(pluginNamespaceOf(metadata.namespace!, spec.plugin), workload);
  if ((deployed?.status?.availableReplicas ?? 0) === 0) return false;
  const versions = ports.versionsOf(spec.publisher, spec.plugin);
  const isForbidden = current.some(({ version }) => contractBetween(atWork!, history, version, versions) !== undefined);
  if (isForbidden) return false;
  setRoutes(installation, routes, undefined, now);
  return true;
}
