import { VpcCondition, VpcReason, type Vpc } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { done, stalled } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { wantsExternal } from '../../access/external/model/external-address.ts';
import type { VpcPorts } from '../vpc.steps.ts';

/** It has the address that it is reached at from outside, if it wants to be. What is made of it is made when that is written down. */
export function externalAddress({ giveExternal }: Pick<VpcPorts, 'giveExternal'>): Step<Vpc> {
  return {
    name: VpcCondition.ExternalAddress,
    async run(vpc) {
      const { external: held, ...rest } = vpc.status ?? {};
      if (!wantsExternal(vpc)) {
        vpc.status = rest;
        return done('NotAsked');
      }
      const given = await giveExternal(vpc);
      if ('address' in given) {
        vpc.status = { ...rest, external: { ...held, address: given.address } };
        return done('Given', given.address);
      }
      vpc.status = rest;
      return stalled(VpcReason.NoExternalAddress, given.problem);
    },
  };
}
