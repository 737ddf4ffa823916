import type { Json } from '../../../../kube/object.ts';

/** What something used, as its node measured it. */
export interface Usage {
  cpuNanocores: number;
  memoryBytes: number;
  /** When the CPU rate was measured until, and over how long. */
  at: Date;
  windowMs: number;
}

/** How long kubelets measure before they name a rate. Ours say it themselves. */
const KUBELET_WINDOW_SECONDS = 10;

export interface PodUsage {
  uid?: string;
  containers: (Usage & { name: string })[];
}

export interface NodeSummary {
  node?: Usage;
  /** By `namespace/name`. Pods of which something is not known yet are left out: half a sum would be a lie. */
  pods: Map<string, PodUsage>;
}

/** Reads a kubelet's `/stats/summary`. What is malformed counts as not known. */
export function readSummary(summary: Json): NodeSummary {
  const pods = new Map<string, PodUsage>();
  const listed: Json[] = Array.isArray(summary?.pods) ? summary.pods : [];
  for (const { podRef, containers } of listed) {
    if (typeof podRef?.name !== 'string' || !Array.isArray(containers) || containers.length === 0) continue;
    const read = containers.map((container: Json) => ({ name: String(container.name), usage: usageIn(container) }));
    if (read.some(({ usage }) => usage === undefined)) continue;
    const known = read.map(({ name, usage }) => ({ name, ...usage! }));
    pods.set(`${podRef.namespace}/${podRef.name}`, { uid: podRef.uid, containers: known });
  }
  return { node: usageIn(summary?.node), pods };
}

function usageIn(stats: Json): Usage | undefined {
  const { usageNanoCores, time, windowSeconds = KUBELET_WINDOW_SECONDS } = stats?.cpu ?? {};
  const { workingSetBytes } = stats?.memory ?? {};
  const at = new Date(time);
  if (!isAmount(usageNanoCores) || !isAmount(workingSetBytes) || Number.isNaN(at.getTime())) return undefined;
  // A rate over no time is none.
  if (!isAmount(windowSeconds) || windowSeconds === 0) return undefined;
  return { cpuNanocores: usageNanoCores, memoryBytes: workingSetBytes, at, windowMs: windowSeconds * 1000 };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
