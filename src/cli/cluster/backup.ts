import type { TenantCluster } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Session } from '../terminal/session.ts';
import { changeSpec } from './cluster-call.ts';
import { sizeText } from './size-text.ts';
import { waitForCluster } from './wait-for-cluster.ts';

/** Makes a backup of a cluster, or removes one. The platform keeps it. */
export async function backup(session: Session, name: string, flags: { name?: string; remove?: string; wait?: boolean }): Promise<number> {
  if (flags.remove !== undefined) return remove(session, name, flags.remove);
  const wanted = flags.name ?? `at-${new Date(session.clock.now()).toISOString().replace(/\D/g, '').slice(0, 14)}`;
  const changed = await changeSpec(session, `back up cluster "${name}"`, name, ({ spec }) => {
    if (spec.backups?.includes(wanted)) {
      throw new Error(`Cannot make backup "${wanted}" of cluster "${name}": there is one of that name; choose another with --name`);
    }
    return { backups: [...(spec.backups ?? []), wanted] };
  });
  if (changed.spec.sleep === true) {
    session.out(`backup ${wanted} of cluster ${name} will be made when it wakes: it sleeps\n`);
    return 0;
  }
  const found = ({ status }: TenantCluster) => status?.backups?.find((each) => each.name === wanted);
  const done = flags.wait === false ? undefined : await waitForCluster(session, name, (cluster) => found(cluster) !== undefined);
  const size = done && found(done) ? ` (${sizeText(found(done)!.bytes)})` : '';
  session.out(`backup ${wanted} of cluster ${name} ${done ? 'made' : 'asked for'}${size}\n`);
  session.err(`\n  tenantry cluster restore ${name} --backup ${wanted} -n ${session.namespace}\n`);
  return 0;
}

async function remove(session: Session, name: string, unwanted: string): Promise<number> {
  await changeSpec(session, `remove backup "${unwanted}" of cluster "${name}"`, name, ({ spec }) => {
    if (!spec.backups?.includes(unwanted)) {
      throw new Error(
        `Cannot remove backup "${unwanted}": cluster "${name}" has none of that name; \`tenantry cluster get ${name}\` shows them`,
      );
    }
    return { backups: spec.backups.filter((each) => each !== unwanted) };
  });
  session.out(`backup ${unwanted} of cluster ${name} removed\n`);
  return 0;
}
