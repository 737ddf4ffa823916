import { ClusterPhase } from '../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Session } from '../terminal/session.ts';
import { waitForObject } from '../terminal/wait-for-object.ts';
import { clustersOf } from './cluster-call.ts';

const WAIT_MS = 300_000;

/** @returns undefined when it is gone */
export function waitForCluster(
  session: Session,
  name: string,
  isDone: (cluster: TenantCluster) => boolean,
): Promise<TenantCluster | undefined> {
  const shownBy = `tenantry cluster get ${name} -n ${session.namespace}`;
  const waiting = { isDone, waitsFor, timeoutMs: WAIT_MS, what: `cluster "${name}"`, shownBy };
  return waitForObject(session, clustersOf(session), name, waiting);
}

export function isReady(cluster: TenantCluster): boolean {
  return isSettled(cluster) && findCondition(cluster.status?.conditions, 'Ready')?.status === 'True';
}

export function isAsleep(cluster: TenantCluster): boolean {
  return isSettled(cluster) && cluster.status?.phase === ClusterPhase.Asleep;
}

/** What its spec says now was seen. */
function isSettled({ metadata, status }: TenantCluster): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

function waitsFor({ metadata, status }: TenantCluster): string {
  const open = status?.conditions?.find(({ type, status: value }) => type !== 'Ready' && value === 'False');
  return open ? `${open.type}: ${open.message}` : (status?.progress ?? `waiting for cluster ${metadata.name}`);
}
