import { PLATFORM_NAMESPACE } from '../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { ageOf } from '../../kube/age.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable } from '../terminal/table.ts';
import { pathOf, storedSecrets } from './stored-secrets.ts';

export interface ListFlags {
  tenant?: string;
  plugin?: string;
  output?: string;
}

/** What is in the embedded store: paths and the names of properties, never a value, in no format. */
export async function list(session: Session, { tenant, plugin, output = 'table' }: ListFlags): Promise<number> {
  if (!['table', 'json', 'name'].includes(output)) {
    throw new Error(`Cannot list secrets as "${output}": values are never shown; write table, json or name`);
  }
  const where = { server: session.cluster.server, namespace: PLATFORM_NAMESPACE };
  const all = await attempting('list secrets', where, () => storedSecrets(session));
  const shown = all.filter((each) => (tenant ?? each.tenant) === each.tenant && (plugin ?? each.plugin) === each.plugin);
  if (output === 'json') {
    const items = shown.map((each) => ({ path: pathOf(each), plugin: each.plugin, tenant: each.tenant, properties: each.properties }));
    session.out(`${JSON.stringify(items, undefined, 2)}\n`);
  } else if (output === 'name') for (const each of shown) session.out(`${pathOf(each)}\n`);
  else if (shown.length === 0) session.err('There are no secrets; `tenantry secrets put <plugin>/<path> --tenant <tenant>` puts one\n');
  else {
    const now = new Date(session.clock.now());
    const rows = shown.map((each) => [
      each.tenant,
      `${each.plugin}/${each.path}`,
      each.properties.join(','),
      ageOf(each.secret.metadata.creationTimestamp, now),
    ]);
    const lines = formatTable(['TENANT', 'SECRET', 'PROPERTIES', 'AGE'], rows, { isColoured: session.isColoured });
    for (const line of lines) session.out(`${line}\n`);
  }
  return 0;
}
