import type { Amounts } from '../../../../api/tenantry.dev/v1alpha1/metering.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';

const GIB_HOUR = 2 ** 30 * 3600;

/** What a Pod takes of its node by second, by its requests; undefined while it has none, and once it has ended. */
export function podRates({ spec, status }: KubeObject): Amounts | undefined {
  if (!spec?.nodeName || status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined;
  return { cpuSeconds: requested(spec, 'cpu'), memoryGiBHours: requested(spec, 'memory') / GIB_HOUR };
}

/** As the scheduler counts: containers and sidecars together, or one init container beside the sidecars before it when that is more. */
function requested(spec: Json, resource: string): number {
  const ofPod = spec.resources?.requests?.[resource];
  const overhead = amount(spec.overhead?.[resource]);
  if (ofPod !== undefined) return amount(ofPod) + overhead;
  let sidecars = 0;
  let most = 0;
  for (const container of spec.initContainers ?? []) {
    const own = amount(container.resources?.requests?.[resource]);
    if (container.restartPolicy === 'Always') sidecars += own;
    most = Math.max(most, container.restartPolicy === 'Always' ? sidecars : sidecars + own);
  }
  let together = sidecars;
  for (const container of spec.containers ?? []) together += amount(container.resources?.requests?.[resource]);
  return Math.max(together, most) + overhead;
}

/** What a PodMetrics says, by second. */
export function measuredRates({ containers }: KubeObject): Amounts {
  let [cpu, memory] = [0, 0];
  for (const { usage } of containers ?? []) {
    cpu += amount(usage?.cpu);
    memory += amount(usage?.memory);
  }
  return { cpuUsedSeconds: cpu, memoryUsedGiBHours: memory / GIB_HOUR };
}

/** A claim takes what it got; undefined before it got anything. */
export function claimRates({ status }: KubeObject): Amounts | undefined {
  return status?.phase === 'Bound' ? { storageGiBHours: amount(status.capacity?.storage) / GIB_HOUR } : undefined;
}

/** Waiting costs nothing. */
export function runRates({ status }: KubeObject): Amounts | undefined {
  return status?.phase === 'Running' || status?.phase === 'Ready' ? { runSeconds: 1 } : undefined;
}

function amount(quantity: string | number | undefined): number {
  return quantity === undefined ? 0 : Number(Quantity.parse(String(quantity)).nano) / 1e9;
}
