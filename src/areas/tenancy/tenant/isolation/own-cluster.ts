import { PlacementPhase } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { TenantCondition, TenantReason } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { keptFrom } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { listed } from '../../../../api/tenantry.dev/v1alpha1/listed.ts';
import { findCondition } from '../../../../kube/conditions.ts';
import { done, stalled, waiting, type Outcome } from '../../../../runtime/steps/outcome.ts';
import { isEmpty, isReady, messageOf, placementOf, whyNoWorkers, workersOf } from '../../../../api/tenantry.dev/v1alpha1/own-cluster.ts';
import { NO_CLUSTERS, type IsolationProvider } from './isolation-provider.ts';
import { reportMoving, type MovePorts } from './move-pods.ts';
import { leaveNodes } from './shared-nodes.ts';
import type { PluginPlace } from '../tenant-namespaces.ts';
import type { TenantClusters } from './tenant-clusters.ts';

/** The bounds of clusters are not ours to watch: whether they have become wider is found by asking. */
const REFUSED_MS = 10_000;

export interface OwnClusterPorts {
  clusters: Pick<TenantClusters, 'areServed' | 'of' | 'ensure' | 'withoutWorkers' | 'place' | 'remove'>;
  pods: MovePorts;
  namespaces: {
    /** Those whose Runtimes and Runs move. */
    toPlace(tenant: string): string[];
    /** Those of plugins, which move by themselves when the tenant does. */
    ofPlugins(tenant: string): PluginPlace[];
    /** From then on nothing new begins in them on the host; null: it does again. */
    setPlaced(tenant: string, cluster: string | null): Promise<void>;
  };
}

/**
 * A cluster of the tenant's own: it is there before anything is asked to move, then what is new begins in it, then what began on the host
 * ends there. Nothing stops in between.
 */
export function ownCluster({ clusters, pods, namespaces }: OwnClusterPorts): IsolationProvider {
  return {
    async settle(tenant, now) {
      const name = tenant.metadata.name!;
      if (!clusters.areServed) return stalled(TenantReason.IsolationUnavailable, NO_CLUSTERS);
      // A tenant that never ran elsewhere waits for its cluster rather than begin among others.
      if (tenant.status?.isolation === undefined) await namespaces.setPlaced(name, name);
      const made = await clusters.ensure(tenant);
      if ('refused' in made) return waiting(TenantReason.Obstructed, made.refused, REFUSED_MS);
      const { cluster } = made;
      if (cluster.metadata.deletionTimestamp !== undefined) return moving(tenant, now, `a former cluster "${name}" is on its way out`);
      const isBegun = cluster.spec.placement?.namespaces !== undefined && cluster.spec.placement.namespaces.length > 0;
      const unable = tenant.spec.cluster?.nodePools === undefined && workersOf(cluster) > 0 ? whyNoWorkers(cluster) : undefined;
      if (unable !== undefined) {
        await clusters.withoutWorkers(cluster);
        return moving(tenant, now, `cluster "${name}" is made without workers: ${unable}`);
      }
      if (!isBegun && !isReady(cluster)) return moving(tenant, now, `cluster "${name}": ${messageOf(cluster)}`);
      await namespaces.setPlaced(name, name);
      const changed = await clusters.place(cluster, namespaces.toPlace(name));
      const placement = changed ? undefined : placementOf(cluster);
      if (placement?.phase !== PlacementPhase.Placed) {
        // One that sleeps with its tenant, or was killed, is where the tenant lives all the same.
        if (tenant.status?.isolation === 'Cluster' && !isReady(cluster))
          return waiting(TenantReason.Placing, `cluster "${name}": ${messageOf(cluster)}`);
        return moving(tenant, now, progress(name, placement?.left ?? 0, 'on the host'));
      }
      const plugins = namespaces.ofPlugins(name);
      const late = plugins.filter(({ place }) => place !== name && place !== keptFrom(name));
      // One that is installed later is no move of the tenant.
      if (late.length > 0 && tenant.status?.isolation !== 'Cluster')
        return moving(tenant, now, `plugins have yet to answer in cluster "${name}": ${namesOf(late)}`);
      const unfinished = await leaveNodes(tenant, now, pods);
      if (unfinished) return unfinished;
      reportMoving(tenant, false, TenantReason.InPlace, `its Runtimes and Runs are in cluster "${name}"`, now);
      (tenant.status ??= {}).isolation = 'Cluster';
      return done(TenantReason.OwnCluster, describe(cluster, plugins));
    },
  };
}

/** The way back, before any other setting: new Runs begin on the host, those of the cluster end there, and then it goes. @returns undefined when there is none */
export async function leaveCluster(tenant: Tenant, now: number, { clusters, namespaces }: OwnClusterPorts): Promise<Outcome | undefined> {
  const name = tenant.metadata.name!;
  await namespaces.setPlaced(name, null);
  const cluster = await clusters.of(name);
  if (cluster === undefined) {
    const isOurs = findCondition(tenant.status?.conditions, TenantCondition.Moving)?.reason === TenantReason.Placing;
    if (isOurs) reportMoving(tenant, false, TenantReason.InPlace, 'its Runtimes and Runs are on the host', now);
    return undefined;
  }
  if (cluster.metadata.deletionTimestamp !== undefined) return moving(tenant, now, `cluster "${name}" is on its way out`);
  // One that never got so far as to be placed in has nothing to give back.
  const changed = cluster.spec.placement === undefined ? undefined : await clusters.place(cluster, []);
  const inside = namespaces.ofPlugins(name).filter(({ place }) => place === name);
  if (changed === undefined && isEmpty(cluster) && inside.length > 0)
    return moving(tenant, now, `plugins have yet to answer on the host: ${namesOf(inside)}`);
  if (changed === undefined && isEmpty(cluster)) {
    await clusters.remove(cluster);
    return moving(tenant, now, `cluster "${name}" is on its way out`);
  }
  const where = isReady(cluster) ? '' : `; cluster "${name}": ${messageOf(cluster)}`;
  return moving(tenant, now, progress(name, placementOf(cluster)?.left ?? 0, `in cluster "${name}"`) + where);
}

function progress(cluster: string, left: number, where: string): string {
  if (left === 0) return `copies of what its Runs need go to and from cluster "${cluster}"`;
  return left === 1 ? `one Run has yet to end ${where}` : `${left} Runs have yet to end ${where}`;
}

/** Woken by the cluster, whose status tells when it has come further. */
function moving(tenant: Tenant, now: number, message: string): Outcome {
  reportMoving(tenant, true, TenantReason.Placing, message, now);
  return waiting(TenantReason.Placing, message);
}

function namesOf(plugins: readonly PluginPlace[]): string {
  return listed(plugins.map(({ namespace }) => namespace));
}

function describe(cluster: TenantCluster, plugins: readonly PluginPlace[]): string {
  const where = `its Runtimes and Runs are in cluster "${cluster.metadata.name}" of its own`;
  const told = [where];
  if (workersOf(cluster) === 0) told.push('which has no worker: its Pods wait for one');
  const kept = plugins.filter(({ place }) => place !== cluster.metadata.name);
  if (kept.length > 0) told.push(`plugins are on the host: ${namesOf(kept)}`);
  else if (plugins.length > 0) told.push('its plugins are there too');
  return told.join(', ');
}
