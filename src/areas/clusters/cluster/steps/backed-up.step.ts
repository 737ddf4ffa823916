import { ClusterCondition } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { formatTime } from '../../../../kube/time.ts';
import { done } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { ClusterPorts } from '../cluster.steps.ts';
import { orWaiting } from '../control-plane-outcome.ts';

/** There are the backups that the spec names, and no others. */
export function backedUp(ports: Pick<ClusterPorts, 'planesOf'>): Step<TenantCluster> {
  return {
    name: ClusterCondition.BackedUp,
    run(cluster, { signal }) {
      return orWaiting(async () => {
        const planes = ports.planesOf(cluster);
        const id = cluster.metadata.uid!;
        const wanted = new Set(cluster.spec.backups ?? []);
        const backups = await planes.backups(id);
        for (const { name } of backups) if (!wanted.has(name)) await planes.removeBackup(id, name);
        const kept = backups.filter(({ name }) => wanted.has(name));
        for (const name of wanted) if (!kept.some((backup) => backup.name === name)) kept.push(await planes.backup(id, name, signal));
        const status = kept.map(({ name, time, bytes }) => ({ name, time: formatTime(new Date(time)), bytes }));
        cluster.status = { ...cluster.status, backups: status.sort((a, b) => a.name.localeCompare(b.name)) };
        return done('BackedUp', kept.length === 0 ? 'no backups are asked for' : '');
      });
    },
  };
}
