import { VpcCondition, VpcReason, type Vpc } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { done, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { VpcPorts } from '../vpc.steps.ts';

const RETRY_MS = 5000;

/** Nobody lives in it: its clusters go first. */
export function unused({ residents }: Pick<VpcPorts, 'residents'>): Step<Vpc> {
  return {
    name: VpcCondition.Unused,
    run(vpc) {
      const names = residents(vpc).map(({ metadata }) => metadata.name!);
      if (names.length === 0) return done('Unused');
      return waiting(VpcReason.InUse, `it goes after its clusters: ${names.sort().join(', ')}`);
    },
  };
}

/** Nothing of it is left on the machine: the plan does not name it any more. */
export function gone({ ensure }: Pick<VpcPorts, 'ensure'>): Step<Vpc> {
  return {
    name: VpcCondition.Gone,
    async run({ metadata }) {
      const outcome = await ensure(metadata.name!);
      return outcome.state === 'NotMade' ? waiting(VpcReason.NotMade, outcome.message, RETRY_MS) : done('Gone');
    },
  };
}
