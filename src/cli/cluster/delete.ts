import type { Session } from '../terminal/session.ts';
import { calling, clustersOf } from './cluster-call.ts';
import { confirmName } from './confirm.ts';
import { waitForCluster } from './wait-for-cluster.ts';

/** Deletes a cluster once its name was typed again: there is no way back. */
export async function remove(session: Session, name: string, flags: { confirm?: string; wait?: boolean }): Promise<number> {
  const doing = `delete cluster "${name}"`;
  const cluster = await calling(session, doing, () => clustersOf(session).get(name));
  const backups = cluster.status?.backups?.length ?? 0;
  session.err(
    `Cluster "${name}" will be deleted with everything in it${backups > 0 ? ` and its ${backups === 1 ? 'backup' : `${backups} backups`}` : ''}. This cannot be undone.\n`,
  );
  await confirmName(session, 'delete cluster', name, flags.confirm);
  await calling(session, doing, () => clustersOf(session).delete(name, { preconditions: { uid: cluster.metadata.uid } }));
  if (flags.wait !== false) await waitForCluster(session, name, () => false);
  session.out(`cluster ${name} ${flags.wait === false ? 'is being deleted' : 'deleted'}\n`);
  return 0;
}
