import { PluginInstallationKind } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { waitForInstallation } from './wait-for-installation.ts';

/** Takes a plugin away from a tenant. Its secrets and data stay unless asked otherwise. */
export async function uninstall(
  session: Session,
  name: string,
  flags: { tenant: string; deleteData?: boolean; wait?: boolean },
): Promise<number> {
  const { tenant } = flags;
  const where = { server: session.cluster.server, namespace: tenant };
  const installations = session.cluster.client.resource(PluginInstallationKind, tenant);
  await attempting(`uninstall plugin "${name}"`, where, async () => {
    if (flags.deleteData) await installations.patch(name, { type: 'merge', patch: { spec: { data: 'Delete' } } });
    await installations.delete(name);
  });
  if (flags.wait !== false) await waitForInstallation(session, { tenant, name }, () => false);
  session.out(`plugin ${name} ${flags.wait === false ? 'is being uninstalled' : 'uninstalled'}\n`);
  return 0;
}
