import { keptFrom } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { removeCondition, setCondition } from '../../../kube/conditions.ts';
import { done, waiting } from '../../../runtime/steps/outcome.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import type { Target } from '../installation/model/target.ts';
import type { Place } from './model/choose-place.ts';

export interface PlaceChosenPorts {
  target(installation: PluginInstallation): Target;
  placeOf(installation: PluginInstallation): Place;
  tenantIn(tenant: string): string | undefined;
  /** Whether something of it is in the tenant's cluster, as far as that answers. */
  hasCopies(tenant: string, namespace: string): boolean;
  /** Written on the namespace of the host: whoever moves the tenant goes by it. */
  setPlace(namespace: string, place: string | null): Promise<void>;
}

/** It is known where it has to run. One that takes no requests yet begins there and nowhere else. */
export function placeChosen(ports: PlaceChosenPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.PlaceChosen,
    async run(installation, { now }) {
      const { namespace, tenant } = ports.target(installation);
      const status = installation.status!;
      const place = ports.placeOf(installation);
      const isServed = (status.gateway?.routes ?? []).length > 0;
      if (!isServed && begins(installation, place)) {
        report(installation, place, ports.tenantIn(tenant), now());
        // First the status: what is looked at in this round is that of the other place.
        return waiting(InstallationReason.Moving, 'it begins where its tenant lives', 0);
      }
      const servedIn = status.placement?.cluster;
      const tenantIn = ports.tenantIn(tenant);
      if (servedIn !== undefined) await ports.setPlace(namespace, servedIn);
      else if (place.in === 'host' && place.kept !== undefined) await ports.setPlace(namespace, keptFrom(tenantIn!));
      // As long as Pods end there, the cluster is needed.
      else if (tenantIn !== undefined || !ports.hasCopies(tenant, namespace)) await ports.setPlace(namespace, null);
      report(installation, place, tenantIn, now());
      if (place.in === 'cluster' && !place.isReachable && !isServed)
        return waiting(InstallationReason.ClusterUnavailable, `waits for cluster "${place.cluster}", which its tenant lives in`);
      if (place.in === 'cluster') return done(InstallationReason.InCluster, `in cluster "${place.cluster}"`);
      return place.kept === undefined ? done(InstallationReason.OnHost) : done(InstallationReason.KeptOnHost, place.kept);
    },
  };
}

/** @returns whether it begins elsewhere than it would have */
function begins({ status }: PluginInstallation, place: Place): boolean {
  const cluster = place.in === 'cluster' ? place.cluster : undefined;
  if (status!.placement?.cluster === cluster) return false;
  if (cluster === undefined) delete status!.placement;
  else status!.placement = { cluster, endpoints: [] };
  return true;
}

/** Nothing is said of it where there is nothing to choose. */
function report(installation: PluginInstallation, place: Place, tenantIn: string | undefined, now: number): void {
  const { placement, conditions = [] } = installation.status!;
  if (tenantIn === undefined && placement === undefined) {
    removeCondition(conditions, InstallationCondition.Placed);
    return;
  }
  if (place.in === 'host' && place.kept !== undefined)
    return reportPlaced(installation, 'False', InstallationReason.KeptOnHost, `it stays on the host: ${place.kept}`, now);
  const isThere = place.in === 'cluster' && placement?.cluster === place.cluster;
  if (!isThere) return reportPlaced(installation, 'False', InstallationReason.Moving, 'it answers where it was', now);
  if (place.isReachable) return reportPlaced(installation, 'True', InstallationReason.InCluster, `in cluster "${place.cluster}"`, now);
  const why = place.surplus ?? `cluster "${place.cluster}" does not answer`;
  reportPlaced(installation, 'False', InstallationReason.ClusterUnavailable, why, now);
}

export function reportPlaced(
  { metadata, status }: PluginInstallation,
  is: 'True' | 'False',
  reason: string,
  message: string,
  now: number,
): void {
  const { generation: observedGeneration } = metadata;
  const type = InstallationCondition.Placed;
  setCondition((status!.conditions ??= []), { type, status: is, reason, message, observedGeneration }, new Date(now));
}
