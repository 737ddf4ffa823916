import { Namespace } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller, type ReconcileContext, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';
import type { ResourceMonitors } from '../resource-monitors/resource-monitors.ts';
import { conditionsAfter } from './conditions.ts';
import { deleteContent } from './delete-content.ts';

const FINALIZER = 'kubernetes';
/** Deletions in a namespace come in bursts; one more pass for all of them is enough. */
const AFTER_DELETION_MS = 50;

/** Empties namespaces that are being deleted, says what is in the way, and lets them go when nothing is left. */
export function namespaceController(environment: Environment, monitors: ResourceMonitors): Running {
  const { clock, log, metrics, informers } = environment;
  const namespaces = informers.get(Namespace);
  const controller = new Controller({
    name: 'namespace',
    clock,
    log,
    metrics,
    concurrency: 5,
    reconcile: (name, context) => reconcile(environment, namespaces.get(name), context),
  });
  controller.watch(namespaces, ({ type, object }) => {
    const leaving = type !== 'deleted' && object.metadata.deletionTimestamp !== undefined;
    return leaving ? [object.metadata.name!] : [];
  });
  monitors.listen({
    deleted(_resource, { metadata }) {
      const namespace = metadata.namespace === undefined ? undefined : namespaces.get(metadata.namespace);
      if (namespace?.metadata.deletionTimestamp !== undefined) controller.queue.addAfter(metadata.namespace!, AFTER_DELETION_MS);
    },
  });
  return controller.start();
}

async function reconcile(
  environment: Environment,
  cached: KubeObject | undefined,
  context: ReconcileContext,
): Promise<ReconcileResult | void> {
  if (!cached) return undefined;
  const { client, clock } = environment;
  const namespaces = client.resource(Namespace);
  try {
    let namespace = await namespaces.get(cached.metadata.name!);
    if (namespace.metadata.deletionTimestamp === undefined || !namespace.spec?.finalizers?.includes(FINALIZER)) return undefined;
    if (namespace.status?.phase !== 'Terminating') namespace = await writeStatus(environment, namespace, { phase: 'Terminating' });
    const content = await deleteContent(client, namespace, clock.now(), context.signal);
    const conditions = conditionsAfter(namespace, content, clock.now());
    if (conditions) namespace = await writeStatus(environment, namespace, { conditions });
    if (content.failures.length > 0) throw new Error(`Cannot empty namespace "${namespace.metadata.name}": ${content.failures.join(', ')}`);
    // A timer beside the watches: Pods that die of old age and finalizers of kinds that are not watched wake nobody.
    if (content.remaining.size > 0) return { afterMs: (content.estimateSeconds / 2 + 1) * 1000 };
    if (content.undiscovered.length > 0)
      throw new Error(`Cannot discover ${content.undiscovered.join(', ')} in namespace "${namespace.metadata.name}"`);
    await finalize(environment, namespace);
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
  return undefined;
}

function writeStatus({ client }: Environment, namespace: KubeObject, status: object): Promise<KubeObject> {
  const { name, resourceVersion } = namespace.metadata;
  return client.resource(Namespace).status.patch(name!, { type: 'merge', patch: { metadata: { resourceVersion }, status } });
}

async function finalize({ client }: Environment, namespace: KubeObject): Promise<void> {
  const finalizers = (namespace.spec?.finalizers ?? []).filter((name: string) => name !== FINALIZER);
  const body = { ...namespace, spec: { ...namespace.spec, finalizers } };
  await client.resource(Namespace).subresource('finalize').update(namespace.metadata.name!, body);
}
