import { ResourceQuota } from '../../../client/kinds.ts';
import type { Kind } from '../../../kube/kind.ts';
import { semanticEqual } from '../../../kube/json-value.ts';
import type { GroupResource, KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { orAborted } from '../../../lib/abort.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf, splitKey } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import type { ResourceMonitors } from '../resource-monitors/resource-monitors.ts';

/** How quotas count, given from outside: admission counts with the same functions. */
export interface QuotaArithmetic {
  /** `status.used` from the objects themselves; `objects` gives undefined for resources that do not exist. */
  calculateUsage(
    quota: KubeObject,
    objects: (resource: GroupResource) => Iterable<KubeObject> | undefined,
    now: () => number,
  ): Promise<Record<string, string>>;
  /** The resources that a quota counts. */
  trackedResources(quota: KubeObject): GroupResource[];
}

/** Changes of objects that a quota counts come in bursts; one recount for all of them is enough. */
const RECOUNT_AFTER_MS = 200;
/** What a change, besides a deletion, can set free: a finished Pod, a Service of another type, a resized claim. */
const RECOUNT_ON_CHANGE = new Set(['/pods', '/services', '/persistentvolumeclaims']);

/**
 * Keeps `status` of ResourceQuotas true. Admission charges a quota with every create before it is written; this gives back what deletions and
 * finished Pods set free, and repairs what a crash left behind.
 */
export function resourceQuotaController(environment: Environment, monitors: ResourceMonitors, arithmetic: QuotaArithmetic): Running {
  const { clock, log, metrics, informers } = environment;
  const quotas = informers.get(ResourceQuota);
  quotas.addIndex('namespace', (quota) => [quota.metadata.namespace!]);
  const controller = new Controller({
    name: 'resource-quota',
    clock,
    log,
    metrics,
    concurrency: 5,
    reconcile: (key, { signal }) => recount(environment, monitors, arithmetic, key, signal),
  });
  // Asked for with every change of a Pod: worked out once per version of a quota.
  const trackedBy = new WeakMap<KubeObject, Set<string>>();
  const tracks = (quota: KubeObject, id: string): boolean => {
    let ids = trackedBy.get(quota);
    if (!ids) trackedBy.set(quota, (ids = new Set(arithmetic.trackedResources(quota).map(idOf))));
    return ids.has(id);
  };
  const changed = (resource: Kind, object: KubeObject): void => {
    if (object.metadata.namespace === undefined) return;
    for (const quota of quotas.byIndex('namespace', object.metadata.namespace)) {
      const id = idOf({ group: resource.group, resource: resource.plural });
      if (tracks(quota, id)) controller.queue.addAfter(keyOf(quota), RECOUNT_AFTER_MS);
    }
  };
  monitors.listen({
    deleted: changed,
    // A quota may count what was not served before.
    resourcesChanged() {
      for (const quota of quotas.list()) controller.queue.add(keyOf(quota));
    },
    observed(resource, object) {
      if (quotas.size > 0 && RECOUNT_ON_CHANGE.has(`${resource.group}/${resource.plural}`)) changed(resource, object);
    },
  });
  controller.watch(quotas, (change) => {
    if (change.type === 'deleted') return [];
    // Our own and admission's writes of `used` change nothing that has to be counted anew. Others may have written `hard`.
    const { spec, status } = change.object;
    const settled = change.type === 'modified' && semanticEqual(spec, change.previous.spec) && semanticEqual(status?.hard, spec?.hard);
    return settled ? [] : [keyOf(change.object)];
  });
  return controller.start();
}

async function recount(
  environment: Environment,
  monitors: ResourceMonitors,
  arithmetic: QuotaArithmetic,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock } = environment;
  const { namespace, name } = splitKey(key);
  const resource = client.resource(ResourceQuota, namespace);
  await orAborted(monitors.discovered, signal);
  try {
    // Read before the objects are: what admission charges meanwhile moves the version, and the write below is refused.
    const quota = await resource.get(name, { signal });
    if (quota.metadata.deletionTimestamp !== undefined) return;
    const counted = new Map<string, KubeObject[]>();
    for (const tracked of arithmetic.trackedResources(quota)) {
      const kind = monitors.resourceNamed(tracked.group, tracked.resource);
      if (kind) counted.set(idOf(tracked), (await client.resource(kind, namespace).listAll({ signal })).items);
    }
    const used = await arithmetic.calculateUsage(
      quota,
      (tracked) => counted.get(idOf(tracked)),
      () => clock.now(),
    );
    const status = { hard: quota.spec?.hard ?? {}, used };
    if (semanticEqual(status, { hard: quota.status?.hard, used: quota.status?.used })) return;
    await resource.status.update(name, { ...quota, status }, { signal });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

function idOf({ group, resource }: GroupResource): string {
  return `${group}/${resource}`;
}
