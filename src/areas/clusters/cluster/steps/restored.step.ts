import { ClusterCondition, ClusterReason } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import { done, stalled } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { ClusterPorts } from '../cluster.steps.ts';
import { orWaiting } from '../control-plane-outcome.ts';
import { restoreToken, wantedControlPlane } from '../model/wanted-control-plane.ts';

/** The state of a backup, once for each value of `spec.restore`. */
export function restored(
  ports: Pick<ClusterPorts, 'planesOf' | 'clusterNamed' | 'setRunning' | 'tenantOf' | 'boundsOf'>,
): Step<TenantCluster> {
  return {
    name: ClusterCondition.Restored,
    async run(cluster, { signal }) {
      const wanted = cluster.spec.restore;
      if (wanted === undefined) return done('NotAsked');
      if (deepEqual(cluster.status?.restored, wanted))
        return done('Restored', `its state is that of backup "${wanted.backup}", and what came after`);
      const source = wanted.cluster === undefined ? cluster : ports.clusterNamed(cluster.metadata.namespace!, wanted.cluster);
      if (source === undefined) return stalled(ClusterReason.NoBackup, `there is no cluster "${wanted.cluster}" whose backup it could be`);
      return orWaiting(async () => {
        await ports.setRunning(cluster, undefined);
        const tenant = ports.tenantOf(cluster);
        const from = { id: source.metadata.uid!, backup: wanted.backup };
        await ports
          .planesOf(cluster)
          .restore(wantedControlPlane(cluster, tenant && ports.boundsOf(tenant)), from, restoreToken(cluster)!, signal);
        cluster.status = { ...cluster.status, restored: wanted };
        return done('Restored', `from backup "${wanted.backup}"`);
      });
    },
  };
}
