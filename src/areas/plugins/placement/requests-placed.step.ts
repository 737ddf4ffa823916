import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { isConditionTrue } from '../../../kube/conditions.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { done, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import type { Target } from '../installation/model/target.ts';
import type { VersionsOf } from '../installation/steps/kept.steps.ts';
import { workloadOf } from '../workload/deployment.ts';
import { workloadHealth } from '../workload/workload-health.ts';
import type { Place } from './model/choose-place.ts';
import { reportPlaced } from './place-chosen.step.ts';

const MOST_PODS = 32;

export interface RequestsPlacedPorts {
  placeOf(installation: PluginInstallation): Place;
  target(installation: PluginInstallation): Target;
  versions: VersionsOf;
  /** At the place, as they are now. */
  workloadAt(place: Place['in'], target: Target): { deployment: KubeObject | undefined; restarts: number; pods: readonly KubeObject[] };
}

/** Requests go to the other place once everything that takes any answers there; what answered before goes only after that is written. */
export function requestsPlaced(ports: RequestsPlacedPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.RequestsPlaced,
    run(installation, { now }) {
      const status = installation.status!;
      const place = ports.placeOf(installation);
      const wanted = ports.target(installation);
      const { placement } = status;
      const isThere = place.in === 'cluster' ? placement?.cluster === place.cluster : placement === undefined;
      if (isThere) {
        if (place.in === 'cluster' && place.isReachable) placement!.endpoints = endpointsOf(ports, installation, wanted);
        return done(place.in === 'cluster' ? InstallationReason.InCluster : InstallationReason.OnHost);
      }
      const missing =
        place.in === 'cluster' && !place.isReachable ? notThere(place.cluster) : unready(ports, installation, wanted, place.in, now());
      if (missing !== undefined) {
        reportPlaced(installation, 'False', InstallationReason.Moving, `${where(place)} it does not answer yet: ${missing}`, now());
        return done(InstallationReason.Moving, missing);
      }
      if (place.in === 'cluster') status.placement = { cluster: place.cluster, endpoints: endpointsOf(ports, installation, wanted) };
      else delete status.placement;
      // First the status: gateways go by it, and what they went by before has to stay until then.
      return waiting(InstallationReason.Moving, `requests go to it ${where(place)}`, 0);
    },
  };
}

function where(place: Place): string {
  return place.in === 'cluster' ? `in cluster "${place.cluster}"` : 'on the host';
}

function notThere(cluster: string): string {
  return `cluster "${cluster}" does not answer`;
}

/** Why not all that takes requests answers there; undefined: it does. */
function unready(
  ports: RequestsPlacedPorts,
  installation: PluginInstallation,
  wanted: Target,
  place: Place['in'],
  now: number,
): string | undefined {
  // Nothing of it runs anywhere.
  if (wanted.isSuspended) return undefined;
  for (const each of servedBy(installation, ports.versions(installation, wanted))) {
    const { deployment, restarts } = ports.workloadAt(place, each);
    const isOfImage = deployment?.spec.template.spec.containers[0].image === each.version.status!.image;
    const outcome: Outcome = workloadHealth(isOfImage ? deployment : undefined, restarts, now);
    if (outcome.type !== 'done' || outcome.reason === 'ScaledToZero')
      return `${each.version.spec.version}: ${outcome.message || outcome.reason}`;
  }
  return undefined;
}

function servedBy({ status }: PluginInstallation, versions: readonly Target[]): Target[] {
  const routes = status?.gateway?.routes ?? [];
  return versions.filter(({ version }) => routes.some((route) => route.version === version.spec.version));
}

/** The Pods that gateways may connect to. Of what is inside of the cluster only their names are believed. */
function endpointsOf(ports: RequestsPlacedPorts, installation: PluginInstallation, wanted: Target) {
  return ports.versions(installation, wanted).flatMap((each) => {
    const port = each.manifest.spec.runtime.startupProbe?.port;
    if (port === undefined) return [];
    const ready = ports
      .workloadAt('cluster', each)
      .pods.filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && isConditionTrue(status?.conditions, 'Ready'));
    const pods = ready.map(({ metadata }) => metadata.name!).sort();
    return [{ workload: workloadOf(each), port, pods: pods.slice(0, MOST_PODS) }];
  });
}
