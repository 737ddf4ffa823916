/** What one Pod uses of something, in thousandths. */
export interface PodMetric {
  value: number;
  /** When it was measured until, and over how long. */
  atMs: number;
  windowMs: number;
}

/** By Pod name. */
export type PodMetrics = Map<string, PodMetric>;

export interface Tolerances {
  down: number;
  up: number;
}

/** A change this small is not worth one. */
export function isWithin({ down, up }: Tolerances, ratio: number): boolean {
  return 1 - down <= ratio && ratio <= 1 + up;
}

export interface Utilization {
  /** Of the actual utilization to the one that is wanted. */
  ratio: number;
  /** Percent of what was requested. */
  percent: number;
  /** The average usage of a Pod. */
  average: number;
}

/** @throws Error when none of the metrics is of a Pod whose request is known */
export function utilizationOf(metrics: PodMetrics, requests: ReadonlyMap<string, number>, targetPercent: number): Utilization {
  let used = 0;
  let requested = 0;
  let count = 0;
  for (const [pod, { value }] of metrics) {
    const request = requests.get(pod);
    if (request === undefined) continue;
    used += value;
    requested += request;
    count++;
  }
  if (requested === 0) throw new Error('no metrics returned matched known pods');
  const percent = Math.trunc((used * 100) / requested);
  return { ratio: percent / targetPercent, percent, average: Math.trunc(used / count) };
}

export function averageOf(metrics: PodMetrics, target: number): { ratio: number; average: number } {
  let total = 0;
  for (const { value } of metrics.values()) total += value;
  const average = Math.trunc(total / metrics.size);
  return { ratio: average / target, average };
}
