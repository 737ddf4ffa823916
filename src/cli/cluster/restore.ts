import type { TenantCluster } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { deepEqual } from '../../kube/json-value.ts';
import type { Session } from '../terminal/session.ts';
import { calling, changeSpec, clustersOf } from './cluster-call.ts';
import { confirmName } from './confirm.ts';
import { tellNext } from './create.ts';
import { isReady, waitForCluster } from './wait-for-cluster.ts';

export interface RestoreFlags {
  backup: string;
  to?: string;
  confirm?: string;
}

/** Brings back the state of a backup, in place or as a new cluster with keys of its own. */
export async function restore(session: Session, name: string, flags: RestoreFlags): Promise<number> {
  const doing = `restore cluster "${name}"`;
  const cluster = await calling(session, doing, () => clustersOf(session).get(name));
  if (!cluster.status?.backups?.some((each) => each.name === flags.backup)) {
    const names = (cluster.status?.backups ?? []).map((each) => each.name).join(', ');
    throw new Error(`Cannot ${doing}: it has no backup "${flags.backup}"; ${names === '' ? 'it has none at all' : `choose from ${names}`}`);
  }
  return flags.to === undefined ? inPlace(session, cluster, flags) : asNew(session, cluster, flags.backup, flags.to);
}

async function inPlace(session: Session, { metadata, spec }: TenantCluster, { backup, confirm }: RestoreFlags): Promise<number> {
  const name = metadata.name!;
  session.err(`Everything in cluster "${name}" will be as it was in backup "${backup}"; what came after is lost. This cannot be undone.\n`);
  await confirmName(session, 'restore cluster', name, confirm);
  const wanted = { backup, request: (spec.restore?.request ?? 0) + 1 };
  await changeSpec(session, `restore cluster "${name}"`, name, () => ({ restore: { cluster: null, ...wanted } }));
  await waitForCluster(session, name, (cluster) => isReady(cluster) && deepEqual(cluster.status?.restored, wanted));
  session.out(`cluster ${name} is as it was in backup ${backup}\n`);
  return 0;
}

async function asNew(session: Session, source: TenantCluster, backup: string, name: string): Promise<number> {
  const { version, controlPlane, addOns } = source.spec;
  const spec: TenantCluster['spec'] = { restore: { backup, cluster: source.metadata.name! } };
  if (version !== undefined) spec.version = version;
  if (controlPlane !== undefined) spec.controlPlane = controlPlane;
  if (addOns !== undefined) spec.addOns = addOns;
  await calling(session, `create cluster "${name}"`, () => clustersOf(session).create({ metadata: { name }, spec }));
  const cluster = await waitForCluster(session, name, isReady);
  session.out(`cluster ${name} is ready at ${cluster?.status?.endpoint}, made from backup ${backup} of ${source.metadata.name}\n`);
  tellNext(session, name);
  return 0;
}
