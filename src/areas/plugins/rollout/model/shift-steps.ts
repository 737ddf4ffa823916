import type { PluginManifest } from '../../../../api/adapstory.com/v1/plugin-manifest.ts';
import type { PluginPolicy } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';

/** A share of the requests, in percent, and how long it stays at least before there is more. */
export interface ShiftStep {
  weight: number;
  pauseMs: number;
}

/** Half of the requests first, and a while at all of them: what is broken shows where one request comes in a second, too. */
const ROLLING: readonly ShiftStep[] = [
  { weight: 50, pauseMs: 5_000 },
  { weight: 100, pauseMs: 5_000 },
];
/** All at once; the old version stays beside it for a while. */
const BLUE_GREEN: readonly ShiftStep[] = [{ weight: 100, pauseMs: 10_000 }];

/**
 * How the requests move to a version: as its manifest says, and where the tenant's policy is `canary`, the policy's share first, whatever the
 * manifest begins with.
 */
export function shiftSteps(manifest: PluginManifest, policy: Pick<PluginPolicy, 'spec'> | undefined): ShiftStep[] {
  const own = stepsOf(manifest);
  if (policy?.spec.mode !== 'canary') return own;
  const { canaryPercent = 10, canaryPauseSeconds = 300 } = policy.spec;
  const rest = own.filter(({ weight }) => weight > canaryPercent);
  return [{ weight: canaryPercent, pauseMs: canaryPauseSeconds * 1000 }, ...rest];
}

function stepsOf({ spec }: PluginManifest): ShiftStep[] {
  const { strategy = 'rolling', canarySteps = [] } = spec.runtime.upgrade ?? {};
  switch (strategy) {
    case 'rolling':
      return [...ROLLING];
    case 'blueGreen':
      return [...BLUE_GREEN];
    case 'canary':
      return canarySteps.map(({ weight, pauseSeconds = 0 }) => ({ weight, pauseMs: pauseSeconds * 1000 }));
  }
}
