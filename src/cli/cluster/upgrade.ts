import type { TenantCluster } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { ClusterCondition, ClusterReason } from '../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Session } from '../terminal/session.ts';
import { changeSpec } from './cluster-call.ts';
import { isReady, waitForCluster } from './wait-for-cluster.ts';

/** Asks for another Kubernetes version. */
export async function upgrade(session: Session, name: string, flags: { to: string; wait?: boolean }): Promise<number> {
  const version = flags.to.replace(/^v/, '');
  await changeSpec(session, `upgrade cluster "${name}"`, name, () => ({ version }));
  if (flags.wait === false) {
    session.out(`cluster ${name} is upgraded to ${version}\n`);
    return 0;
  }
  const cluster = await waitForCluster(session, name, isReady);
  const failure = cluster && failureOf(cluster);
  if (failure !== undefined) throw new Error(`Cannot upgrade cluster "${name}": ${failure}`);
  session.out(`cluster ${name} has Kubernetes ${cluster?.status?.version}\n`);
  return 0;
}

function failureOf({ status }: TenantCluster): string | undefined {
  const condition = findCondition(status?.conditions, ClusterCondition.Upgraded);
  return condition?.reason === ClusterReason.UpgradeFailed ? condition.message : undefined;
}
