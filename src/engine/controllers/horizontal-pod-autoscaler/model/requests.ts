import { Quantity } from '../../../../kube/quantity.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';

/** What each Pod requests of a resource, in thousandths; of one container only when it is named. @throws Error when it says nothing. */
export function requestsOf(pods: readonly KubeObject[], resource: string, container: string): Map<string, number> {
  return new Map(pods.map((pod) => [pod.metadata.name!, requestOf(pod, resource, container)]));
}

function requestOf(pod: KubeObject, resource: string, container: string): number {
  // A named container is asked for what it requests itself, whatever the Pod requests as a whole.
  if (container === '' && hasPodRequests(pod)) return podLevelRequest(pod, resource);
  const { name } = pod.metadata;
  let total = 0;
  for (const each of longRunning(pod)) {
    if (container !== '' && container !== each.name) continue;
    const amount = requestIn(each, resource);
    if (amount === undefined) throw new Error(`missing request for ${resource} in container ${each.name} of Pod ${name}`);
    total += amount;
    if (container === each.name) return total;
  }
  if (container !== '') throw new Error(`container ${container} not found in Pod ${name}`);
  return total;
}

function longRunning({ spec }: KubeObject): Json[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isSidecar)];
}

function isSidecar(container: Json): boolean {
  return container.restartPolicy === 'Always';
}

function requestIn(holder: Json, resource: string): number | undefined {
  const amount = holder?.resources?.requests?.[resource];
  return amount === undefined ? undefined : Quantity.parse(amount).milliValue();
}

/** Only these can be requested for a Pod as a whole. */
function hasPodRequests({ spec }: KubeObject): boolean {
  return Object.keys(spec?.resources?.requests ?? {}).some((name) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-'));
}

function podLevelRequest(pod: KubeObject, resource: string): number {
  const overhead = pod.spec.overhead?.[resource];
  const request = requestIn(pod.spec, resource) ?? effectiveRequest(pod, resource);
  if (request === undefined && overhead === undefined) {
    throw new Error(`missing pod-level request for ${resource} in Pod ${pod.metadata.name}`);
  }
  return (request ?? 0) + (overhead === undefined ? 0 : Quantity.parse(overhead).milliValue());
}

/** What its containers need at most at one time: all that run together, or one that runs before them beside the sidecars started so far. */
function effectiveRequest(pod: KubeObject, resource: string): number | undefined {
  const together = longRunning(pod).map((container) => requestIn(container, resource));
  let sidecars = 0;
  let peak: number | undefined;
  for (const container of pod.spec.initContainers ?? []) {
    const amount = requestIn(container, resource);
    if (isSidecar(container)) sidecars += amount ?? 0;
    if (amount !== undefined) peak = Math.max(peak ?? 0, isSidecar(container) ? sidecars : sidecars + amount);
  }
  const known = together.filter((amount) => amount !== undefined);
  if (known.length === 0) return peak;
  return Math.max(
    known.reduce((sum, amount) => sum + amount, 0),
    peak ?? 0,
  );
}
