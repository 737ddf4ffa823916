import { createHash } from 'node:crypto';
import type { PlaneGroups, PlaneLimits } from '../areas/clusters/control-plane/process/plane-groups.ts';
import { FULL_WEIGHT, PlaneWeights } from '../areas/clusters/control-plane/process/plane-weights.ts';
import { realClock } from '../lib/clock.ts';
import { errorText, type Log } from '../lib/log.ts';
import { processorTimes } from '../lib/processor-times.ts';

/** Cgroups of control planes; undefined where we may make none. What cannot be limited is logged once, and runs without. */
export async function planeCgroups(root: string, log: Log): Promise<PlaneGroups | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { machineCgroups } = await import('../engine/node/drivers/cgroups/cgroups.ts');
  const { cgroups, why } = await machineCgroups();
  if (cgroups === undefined) {
    log.warn('control planes of tenants are not limited', { why });
    return undefined;
  }
  const instance = createHash('sha256').update(root).digest('hex').slice(0, 6);
  // Each at the top: in a group of all of them the quiet ones would wait with the loud one.
  const pathOf = (id: string) => `/tenantry-plane-${instance}-${id}`;
  let warned = false;
  const trying = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!warned) log.warn('cannot limit the control plane of a tenant', { error: errorText(error) });
      warned = true;
    }
  };
  const weights = new PlaneWeights({
    processors: processorTimes,
    used: async (id) => (await cgroups.stats(pathOf(id)))?.cpuNanoseconds,
    weigh: (id, cpuShares) => trying(() => cgroups.create(pathOf(id), { cpuShares })),
    clock: realClock,
  });
  return {
    hold: (id, pid, { memoryBytes, pids }: PlaneLimits) =>
      trying(async () => {
        await cgroups.create(pathOf(id), { memoryBytes, pids, cpuShares: FULL_WEIGHT });
        await cgroups.add(pathOf(id), pid);
      }),
    limit: (id, { cpuMillis, memoryBytes, pids }) =>
      trying(async () => {
        await cgroups.create(pathOf(id), { cpuMillis, memoryBytes, pids });
        weights.add(id);
      }),
    release: (id) =>
      trying(async () => {
        weights.remove(id);
        await cgroups.kill(pathOf(id));
        await cgroups.remove(pathOf(id));
      }),
  };
}
