import { VpcCondition, VpcReason, type Vpc } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { done, stalled, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { VpcPorts } from '../vpc.steps.ts';

/** What the kernel or a program refused may be in order again at any time, and nothing tells when. */
const RETRY_MS = 5000;

/** Packets pass as the spec says. */
export function programmed({ ensure }: Pick<VpcPorts, 'ensure'>): Step<Vpc> {
  return {
    name: VpcCondition.Programmed,
    async run(vpc) {
      const outcome = await ensure(vpc.metadata.name!);
      switch (outcome.state) {
        case 'Made':
          vpc.status = { ...vpc.status, provider: outcome.provider };
          return done('Programmed');
        case 'NotMade':
          return waiting(VpcReason.NotMade, outcome.message, RETRY_MS);
        case 'Refused':
          return stalled(VpcReason.Refused, outcome.message);
        case 'NoNetworks':
          return stalled(VpcReason.NoNetworks, outcome.message);
      }
    },
  };
}
