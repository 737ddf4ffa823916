import { Event } from '../../client/kinds.ts';
import type { KubeObject } from '../../kube/object.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable } from '../terminal/table.ts';

/** What happened to a plugin of a tenant, the oldest first. */
export async function events(session: Session, name: string, { tenant }: { tenant: string }): Promise<number> {
  const where = { server: session.cluster.server, namespace: tenant };
  const { items } = await attempting(`list events of plugin "${name}"`, where, () =>
    session.cluster.client.resource<KubeObject>(Event, tenant).listAll(),
  );
  const rows = items
    .filter(({ regarding }) => regarding?.kind === 'PluginInstallation' && regarding.name === name)
    .sort((a, b) => String(a['eventTime']).localeCompare(String(b['eventTime'])))
    .map(({ eventTime, type, reason, note }) => [String(eventTime), String(type), String(reason), String(note)]);
  if (rows.length === 0) session.err(`There are no events of plugin ${name} in ${tenant}; they are kept for an hour\n`);
  else
    for (const line of formatTable(['TIME', 'TYPE', 'REASON', 'MESSAGE'], rows, { isColoured: session.isColoured }))
      session.out(`${line}\n`);
  return 0;
}
