import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { PluginPolicy } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';
import { InstallationCondition, InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { formatTime } from '../../../kube/time.ts';
import { done, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import type { Target } from '../installation/model/target.ts';
import { workloadOf } from '../workload/deployment.ts';
import { nextMove, type ShiftSituation } from './model/next-move.ts';
import { sameRoutes, type Route } from './model/routes.ts';
import { shiftSteps } from './model/shift-steps.ts';
import type { TrafficFacts } from './model/traffic-facts.ts';
import { takeBack, type TakeBackPorts } from './take-back.ts';

export interface TrafficPorts extends TakeBackPorts {
  target(installation: PluginInstallation): Target;
  policy(tenant: string, plugin: string): PluginPolicy | undefined;
  traffic(installation: string, revision: number): TrafficFacts;
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
          setRoutes(installation, move.routes, move.step, now());
          return waiting(InstallationReason.ShiftingTraffic, shares(move.routes), 0);
        case 'retire':
          // First the status, then the objects: the next round deploys what is left in it.
          if (!situation.traffic.isCurrent) await ports.forgetSilent(key, installation.status!.gateway!.revision!);
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
  const { spec, status = {} } = installation;
  const { gateway = {}, target = {} } = status;
  const { manifest, tenant, plugin, version } = wanted;
  const since = target.stepSince === undefined ? now : Date.parse(target.stepSince);
  return {
    routes: gateway.routes ?? [],
    target: { version: version.spec.version, workload: workloadOf(wanted) },
    atWork: status.version,
    isGoingBack: spec.rollback !== undefined || status.rejected !== undefined,
    isUncalled: manifest.spec.runtime.startupProbe === undefined,
    manifest,
    steps: shiftSteps(manifest, ports.policy(tenant, plugin)),
    step: target.step,
    sinceMs: Math.max(0, now - since),
    traffic: ports.traffic(`${tenant}/${wanted.installation}`, gateway.revision ?? 0),
  };
}

function setRoutes({ status }: PluginInstallation, routes: Route[], step: number | undefined, now: number): void {
  const gateway = (status!.gateway ??= {});
  const target = status!.target!;
  const weight = routes.find(({ version }) => version === target.version)?.weight;
  Object.assign(target, { weight, step });
  if (step === undefined) delete target.step;
  if (sameRoutes(gateway.routes ?? [], routes)) return;
  gateway.routes = routes;
  gateway.revision = (gateway.revision ?? 0) + 1;
  target.stepSince = formatTime(new Date(now));
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
