import { ClusterCondition, ClusterReason } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { formatTime } from '../../../../kube/time.ts';
import { done, stalled, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { withListener } from '../../vpc/model/cluster-place.ts';
import type { ClusterPorts } from '../cluster.steps.ts';
import { orWaiting } from '../control-plane-outcome.ts';
import { isToSleep, wantedControlPlane } from '../model/wanted-control-plane.ts';

const LOOK_AGAIN_MS = 30_000;

/** It answers, or it sleeps. */
export function controlPlaneReady(ports: Pick<ClusterPorts, 'planesOf' | 'tenantOf' | 'setRunning' | 'sleepWorkers'>): Step<TenantCluster> {
  return {
    name: ClusterCondition.ControlPlaneReady,
    async run(cluster, { signal }) {
      const planes = ports.planesOf(cluster);
      if (isToSleep(cluster, ports.tenantOf(cluster))) {
        await ports.sleepWorkers(cluster);
        await ports.setRunning(cluster, undefined);
        await planes.sleep(cluster.metadata.uid!);
        return stalled(ClusterReason.Asleep, `it sleeps; \`tenantry cluster wake ${cluster.metadata.name}\` wakes it`);
      }
      return orWaiting(async () => {
        const running = await planes.run(wantedControlPlane(cluster), signal);
        await ports.setRunning(cluster, running);
        const { endpoint, certificatesExpire, trouble, tunnel } = running;
        cluster.status = { ...cluster.status, endpoint, certificatesExpire: formatTime(new Date(certificatesExpire)) };
        const { network } = cluster.status;
        if (network && tunnel) cluster.status.network = withListener(network, { name: 'tunnel', protocol: 'tcp', ...tunnel });
        // That writes work again is told only by one that does.
        if (trouble) return waiting(ClusterReason[trouble.reason], trouble.message, LOOK_AGAIN_MS);
        return done('Serving', `one replica (${planes.provider}) at ${endpoint}`);
      });
    },
  };
}
