import type { Client } from '../../../client/client.ts';
import type { DiscoveredResource } from '../../../client/discovery.ts';
import { Pod } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { errorText } from '../../../lib/log.ts';
import type { ContentFindings } from './conditions.ts';

export interface Content extends ContentFindings {
  /** Seconds until what remains is expected to be gone; 0 when nothing says. */
  estimateSeconds: number;
}

/** How long finalizers are given where nothing better is known. */
const FINALIZER_ESTIMATE_SECONDS = 15;

/**
 * One pass of deleting everything in a namespace: Pods first, and the rest only when no Pod is left, so that what Pods need (Secrets, network
 * policies) outlives them. What remains is waiting for finalizers or grace periods.
 */
export async function deleteContent(client: Client, namespace: KubeObject, now: number, signal: AbortSignal): Promise<Content> {
  const { resources, failed } = await client.discovery.preferredResources({ signal });
  const deletable = resources.filter(
    (resource) => resource.namespaced && resource.verbs.includes('delete') && resource.verbs.includes('list'),
  );
  const content: Content = { undiscovered: failed, failures: [], remaining: new Map(), finalizers: new Map(), estimateSeconds: 0 };
  const isPods = (resource: DiscoveredResource): boolean => resource.group === '' && resource.plural === 'pods';
  for (const resource of deletable.filter(isPods)) await deleteResource(client, resource, namespace, content, now, signal);
  if (content.remaining.size > 0) return content;
  for (const resource of deletable) {
    if (!isPods(resource)) await deleteResource(client, resource, namespace, content, now, signal);
  }
  return content;
}

async function deleteResource(
  client: Client,
  resource: DiscoveredResource,
  namespace: KubeObject,
  content: Content,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const name = namespace.metadata.name!;
  const objects = client.metadata(resource, name);
  try {
    // Most resources have nothing here; a list of nothing costs less than a deletion of nothing.
    if ((await objects.list({ limit: 1, signal })).items.length === 0) return;
    const grace = resource.plural === 'pods' && resource.group === '' ? await graceSeconds(client, namespace, now, signal) : 0;
    if (resource.verbs.includes('deletecollection')) await objects.deleteCollection({ propagationPolicy: 'Background', signal });
    else {
      for await (const { metadata } of objects.items({ signal })) {
        await objects.delete(metadata.name!, { propagationPolicy: 'Background', signal }).catch(ignoreAbsent);
      }
    }
    const left = (await objects.listAll({ signal })).items;
    record(content, resource, left, grace);
  } catch (error) {
    if (signal.aborted) throw error;
    // A resource that went while we worked has no content.
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'MethodNotAllowed')) return;
    content.failures.push(errorText(error));
  }
}

function record(content: Content, resource: DiscoveredResource, left: KubeObject[], grace: number): void {
  if (left.length === 0) return;
  content.remaining.set(`${resource.plural}.${resource.group}`, left.length);
  let finalizing = false;
  for (const { metadata } of left) {
    for (const finalizer of metadata.finalizers ?? []) {
      finalizing = true;
      content.finalizers.set(finalizer, (content.finalizers.get(finalizer) ?? 0) + 1);
    }
  }
  content.estimateSeconds = Math.max(content.estimateSeconds, grace > 0 ? grace : finalizing ? FINALIZER_ESTIMATE_SECONDS : 1);
}

/** The longest grace period of running Pods, unless the namespace has been waiting for longer than that already. */
async function graceSeconds(client: Client, namespace: KubeObject, now: number, signal: AbortSignal): Promise<number> {
  let longest = 0;
  for await (const pod of client.resource(Pod, namespace.metadata.name).items({ signal })) {
    const { phase } = pod.status ?? {};
    if (phase === 'Succeeded' || phase === 'Failed') continue;
    longest = Math.max(longest, pod.spec?.terminationGracePeriodSeconds ?? 0);
  }
  const waitedSeconds = (now - Date.parse(namespace.metadata.deletionTimestamp!)) / 1000;
  return waitedSeconds >= longest ? 0 : longest;
}

function ignoreAbsent(error: unknown): void {
  if (!isStatusError(error, 'NotFound')) throw error;
}
