import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { PluginPolicy } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';
import { InstallationCondition, InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { formatTime } from '../../../kube/time.ts';
import { done, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import { isRollingBack } from '../installation/model/wanted-version.ts';
import type { Target } from '../installation/model/target.ts';
import { workloadOf } from '../workload/deployment.ts';
import { nextMove, wholeTraffic, type ShiftSituation } from './model/next-move.ts';
import type { Route } from './model/routes.ts';
import { shiftSteps } from './model/shift-steps.ts';
import type { TrafficFacts } from './model/traffic-facts.ts';
import { setRoutes } from './set-routes.ts';
import { takeBack, type TakeBackPorts } from './take-back.ts';

export interface TrafficPorts extends TakeBackPorts {
  target(installation: PluginInstallation): Target;
  policy(tenant: string, plugin: string): PluginPolicy | undefined;
  /** `wasReported`: gateways have told something of it before. */
  traffic(installation: string, revision: number, wasReported: boolean): TrafficFacts;
  /** Gateways that do not follow are forgotten. */
  forgetSilent(installation: string, revision: number): Promise<void>;
}

/** All requests go to the wanted version, step by step, and no other version is left. */
export function trafficShifted(ports: TrafficPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.TrafficShifted,
    async run(installation, { now }) {
      const wanted = ports.target(installation);
      describeToGateway(installation, wanted);
      if (wanted.isSuspended) return done(InstallationReason.Suspended, 'the gateway lets nothing through');
      const key = `${wanted.tenant}/${wanted.installation}`;
      const situation = situationOf(ports, installation, wanted, now());
      const move = nextMove(situation);
      switch (move.type) {
        case 'done':
          setRoutes(installation, move.routes, undefined, now());
          return done('Shifted', `all requests go to ${wanted.version.spec.version}`);
        case 'shift':
          count(installation, situation);
          setRoutes(installation, move.routes, move.step, now());
          return waiting(InstallationReason.ShiftingTraffic, shares(move.routes), 0);
        case 'retire':
          // First the status, then the objects: the next round deploys what is left in it.
          if (!situation.traffic.isCurrent) await ports.forgetSilent(key, installation.status!.gateway!.revision!);
          if (!situation.traffic.isReported) delete installation.status!.gateway!.isReported;
          setRoutes(installation, move.routes, undefined, now());
          return waiting(InstallationReason.Draining, 'the versions that nobody uses any more go', 0);
        case 'reject':
          return takeBack(ports, installation, move.breach, now()) ?? stuckAt(move.breach.reason, move.breach.message);
        case 'wait':
          return waiting(
            move.for === 'drain' ? InstallationReason.Draining : InstallationReason.ShiftingTraffic,
            move.message,
            move.afterMs,
          );
      }
    },
  };
}

/** A version that may not be taken back stays where it is, and is looked at again. */
function stuckAt(reason: string, message: string): Outcome {
  return waiting(reason, message, 1_000);
}

function situationOf(ports: TrafficPorts, installation: PluginInstallation, wanted: Target, now: number): ShiftSituation {
  const status = installation.status!;
  const gateway = (status.gateway ??= {});
  const target = (status.target ??= {});
  const { manifest, tenant, plugin, version } = wanted;
  // The time of a step has to begin somewhere, or it never ends.
  target.stepSince ??= formatTime(new Date(now));
  const routes = gateway.routes ?? [];
  const traffic = ports.traffic(`${tenant}/${wanted.installation}`, gateway.revision ?? 0, gateway.isReported === true);
  if (traffic.isReported && routes.length > 1) gateway.isReported = true;
  return {
    routes,
    target: { version: version.spec.version, workload: workloadOf(wanted) },
    atWork: status.version,
    // Also when an upgrade is called off: what is at work needs no proof.
    isGoingBack: isRollingBack(installation) || status.rejected !== undefined || status.version === version.spec.version,
    isUncalled: manifest.spec.runtime.startupProbe === undefined,
    manifest,
    steps: shiftSteps(manifest, ports.policy(tenant, plugin)),
    step: target.step,
    sinceMs: Math.max(0, now - Date.parse(target.stepSince)),
    counted: countedOf(installation),
    traffic,
  };
}

/** With other routes the gateways count anew. */
function count({ status }: PluginInstallation, situation: ShiftSituation): void {
  const { requests, errors } = wholeTraffic(situation);
  if (requests > 0) Object.assign(status!.target!, { requests, errors });
}

export function countedOf({ status }: PluginInstallation): ShiftSituation['counted'] {
  const { requests = 0, errors = 0 } = status?.target ?? {};
  return { requests, errors };
}

function shares(routes: readonly Route[]): string {
  return routes
    .filter(({ weight }) => weight > 0)
    .map(({ version, weight }) => `${weight} % of the requests go to ${version}`)
    .join(', ');
}

/** What else the gateway has to know of the plugin. */
function describeToGateway(installation: PluginInstallation, { manifest }: Target): void {
  const gateway = (installation.status!.gateway ??= {});
  const { requestRate } = manifest.spec.runtime;
  const said = {
    requestRate,
    llmTokensPerDay: manifest.spec.llm?.gatewayBudget,
    permissions: manifest.spec.permissions?.length ? [...manifest.spec.permissions].sort() : undefined,
  };
  for (const [name, value] of Object.entries(said) as [keyof typeof said, never][]) {
    if (value === undefined) delete gateway[name];
    else if (!deepEqual(gateway[name], value)) gateway[name] = value;
  }
}
