import { HncConfigurationKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { CONFIG_NAME } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { Client } from '../../../client/client.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { FIELD_MANAGER } from './owned-objects.ts';

/** What every namespace of a tenant gets from its root. Only objects that ask for it are copied, so other trees notice nothing. */
const COPIED = [
  { resource: 'limitranges', mode: 'AllowPropagate' as const },
  { group: 'networking.k8s.io', resource: 'networkpolicies', mode: 'AllowPropagate' as const },
];

interface Entry {
  group?: string;
  resource: string;
  mode?: string;
}

/** The entries that are missing, and those that somebody set so that nothing is copied. */
export function judgeEntries(entries: readonly Entry[]): { missing: typeof COPIED; off: string[] } {
  const find = (wanted: Entry) =>
    entries.find(({ group = '', resource }) => group === (wanted.group ?? '') && resource === wanted.resource);
  return {
    missing: COPIED.filter((wanted) => find(wanted) === undefined),
    off: COPIED.filter((wanted) => !['Propagate', 'AllowPropagate'].includes(find(wanted)?.mode ?? 'Propagate')).map(
      ({ resource }) => resource,
    ),
  };
}

/** @returns why what tenants need is not copied down their trees; undefined when it is */
export async function ensurePropagated(client: Client, informers: SharedInformers): Promise<string | undefined> {
  const configuration = informers.get(HncConfigurationKind).get(CONFIG_NAME);
  const entries = configuration?.spec?.resources ?? [];
  const { missing, off } = judgeEntries(entries);
  if (off.length > 0)
    return `HNCConfiguration "config" does not copy ${off.join(' and ')}, which keep tenants apart; set their mode to AllowPropagate`;
  if (missing.length === 0) return undefined;
  const resources = [...entries, ...missing];
  const resource = client.resource(HncConfigurationKind);
  if (configuration) {
    const patch = { metadata: { resourceVersion: configuration.metadata.resourceVersion }, spec: { resources } };
    await resource.patch(CONFIG_NAME, { type: 'merge', patch }, { fieldManager: FIELD_MANAGER });
    return undefined;
  }
  try {
    await resource.create({ metadata: { name: CONFIG_NAME }, spec: { resources } }, { fieldManager: FIELD_MANAGER });
  } catch (error) {
    // Another tenant of the same moment; the cache will tell.
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  }
  return undefined;
}
