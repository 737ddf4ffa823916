import { ClusterCondition, ClusterReason } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { done, stalled, waiting, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { ControlPlaneError } from '../../control-plane/control-planes.ts';
import type { Offers } from '../../policy/model/offers.ts';
import { withListener } from '../../vpc/model/cluster-place.ts';
import type { ClusterPorts } from '../cluster.steps.ts';
import { orWaiting } from '../control-plane-outcome.ts';
import { certificatesStatus } from '../model/certificates.ts';
import { replicasStatus, servingText } from '../model/replicas.ts';
import { isUpgrading, upgraded, upgradeFailed, upgradeText } from '../model/upgrade.ts';
import { isToSleep, wantedControlPlane } from '../model/wanted-control-plane.ts';

const LOOK_AGAIN_MS = 30_000;
/** A full disk or a port that is taken is in the way of any version. */
const GIVES_UP: ReadonlySet<string> = new Set([ClusterReason.StartFailed, ClusterReason.NoProvider]);
const GO_BACK_MS = 100;

/** It answers, or it sleeps. */
export function controlPlaneReady(
  ports: Pick<ClusterPorts, 'planesOf' | 'tenantOf' | 'boundsOf' | 'offers' | 'setRunning' | 'sleepWorkers'>,
): Step<TenantCluster> {
  return {
    name: ClusterCondition.ControlPlaneReady,
    async run(cluster, { signal }) {
      const planes = ports.planesOf(cluster);
      const tenant = ports.tenantOf(cluster);
      if (isToSleep(cluster, tenant)) {
        await ports.sleepWorkers(cluster);
        await ports.setRunning(cluster, undefined);
        await planes.sleep(cluster.metadata.uid!);
        return stalled(ClusterReason.Asleep, `it sleeps; \`tenantry cluster wake ${cluster.metadata.name}\` wakes it`);
      }
      const serve = async () => {
        const running = await planes.run(wantedControlPlane(cluster, tenant && ports.boundsOf(tenant)), signal);
        await ports.setRunning(cluster, running);
        const { endpoint, trouble, tunnel } = running;
        cluster.status = { ...upgraded(cluster.status!), endpoint, ...certificatesStatus(running), controlPlane: replicasStatus(running) };
        const { network } = cluster.status;
        if (network && tunnel) cluster.status.network = withListener(network, { name: 'tunnel', protocol: 'tcp', ...tunnel });
        // That writes work again is told only by one that does.
        if (trouble) return waiting(ClusterReason[trouble.reason], trouble.message, LOOK_AGAIN_MS);
        return done('Serving', servingText(running, planes.provider));
      };
      return orWaiting(() => orFormerVersion(cluster, ports.offers, serve, signal));
    },
  };
}

/** A version that does not come up is given up: in the next round the one before it is started again, on the same store. */
async function orFormerVersion(
  cluster: TenantCluster,
  { controlPlanes }: Offers,
  serve: () => Promise<Outcome>,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    return await serve();
  } catch (error) {
    // It was us who ended, not the version: whoever comes next goes on with it.
    if (signal.aborted) throw error;
    const { provider, version } = cluster.status!;
    const isThere = controlPlanes.some((offer) => offer.provider === provider && offer.versions.includes(version!));
    if (!isUpgrading(cluster.status!) || !isThere || !(error instanceof ControlPlaneError) || !GIVES_UP.has(error.reason)) throw error;
    cluster.status = upgradeFailed(cluster.status!, error.message);
    return waiting(ClusterReason.UpgradeFailed, upgradeText(cluster.status)!, GO_BACK_MS);
  }
}
