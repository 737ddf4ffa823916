import type { PlaneBounds } from '../control-planes.ts';

/** What a control plane may use at most. */
export interface PlaneLimits {
  memoryBytes: number;
  /** Processes and threads. */
  pids: number;
  /** Thousandths of a processor, from the time when it serves: the way there may take what is free. */
  cpuMillis: number;
}

/** Holds the processes of each control plane to limits of their own, so that one that is flooded does not take from others. */
export interface PlaneGroups {
  /** From now on for the process and all that it starts. */
  hold(id: string, pid: number, limits: PlaneLimits): Promise<void>;
  /** It serves, or its limits are others. */
  limit(id: string, limits: PlaneLimits): Promise<void>;
  /** Its processes have ended. */
  release(id: string): Promise<void>;
}

/** Of all processors of the machine, what one control plane may have while others want some too. */
const SHARE = 0.5;
const LEAST_CPU_MILLIS = 500;

/** What control planes of one kind have when nobody says anything, and what they cannot be without. */
export interface PlaneNeeds {
  memoryBytes: number;
  leastMemoryBytes: number;
  pids: number;
}

/** With less than it needs it would be ended again and again by the kernel, or never get ready: that much it always has. */
export function planeLimits(
  { memoryBytes, leastMemoryBytes, pids }: PlaneNeeds,
  bounds: PlaneBounds,
  replicas: number,
  processors: number,
): PlaneLimits {
  return {
    memoryBytes: Math.max(leastMemoryBytes * replicas, bounds.memoryBytes ?? memoryBytes),
    pids: pids * replicas,
    cpuMillis: Math.max(LEAST_CPU_MILLIS, bounds.cpuMillis ?? Math.round(processors * 1000 * SHARE)),
  };
}
