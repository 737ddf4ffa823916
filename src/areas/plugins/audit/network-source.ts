import { Event } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { AttemptSource, Report } from './attempt-source.ts';
import { networkAttempt } from './model/network-attempt.ts';
import type { PluginOwners } from './plugin-owners.ts';

/** How nodes tell of packets that a NetworkPolicy stopped. Nodes of others tell nothing. */
const REASON = 'NetworkPolicyDenied';

/** Denied packets of the Pods of plugins, as the node reports them. */
export function networkSource(informers: SharedInformers, owners: PluginOwners, report: Report, since: number): AttemptSource {
  const events = informers.get(Event, { fieldSelector: `reason=${REASON}` }) as unknown as Informer;
  const stop = events.onChange((change) => {
    if (change.type === 'deleted') return;
    const event = change.object;
    const count = countOf(event) - (change.type === 'modified' ? countOf(change.previous) : 0);
    const regarding = event['regarding'] as { namespace?: string; name?: string } | undefined;
    const owner = regarding?.namespace === undefined ? undefined : owners.byNamespace(regarding.namespace);
    const at = Date.parse(String(event['series']?.lastObservedTime ?? event['eventTime']));
    // Those of before were told by who was there then.
    if (!owner || count <= 0 || !(at >= since)) return;
    const denial = { owner, pod: `${regarding!.namespace}/${regarding!.name}`, note: String(event['note']), at, count };
    const attempt = networkAttempt(denial, (address) => owners.byAddress(address));
    if (attempt) report(attempt);
  });
  return { stop };
}

function countOf(event: KubeObject): number {
  return Number(event['series']?.count ?? 1);
}
