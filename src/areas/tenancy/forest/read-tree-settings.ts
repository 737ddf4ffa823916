import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Log } from '../../../lib/log.ts';
import { DEFAULT_SETTINGS, parseTreeSettings, type TreeSettings } from './tree-settings.ts';

/** Where an administrator writes what HNC has as flags: one place for controllers and admission, which must agree. */
export const SETTINGS = { namespace: 'tenantry-system', name: 'tenantry-tree' };

/** Settings that cannot be used are told and left aside: nobody may be locked out by a mistake in them. */
export async function readTreeSettings(client: Client, log: Log): Promise<TreeSettings> {
  try {
    const { data = {} } = await client.resource(ConfigMap, SETTINGS.namespace).get(SETTINGS.name);
    return parseTreeSettings(data);
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return DEFAULT_SETTINGS;
    if (isStatusError(error)) throw error;
    log.error('cannot use the settings of the tree, will go on without', { configMap: `${SETTINGS.namespace}/${SETTINGS.name}`, error });
    return DEFAULT_SETTINGS;
  }
}
