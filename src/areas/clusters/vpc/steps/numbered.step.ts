import { VpcCondition, VpcReason, type Vpc } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { done, stalled, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { uplinkOf } from '../../network/model/address-plan.ts';
import type { VpcPorts } from '../vpc.steps.ts';

/** It has a pair of transit addresses for life, written down before anything is made: whoever comes after a crash must find the same. */
export function numbered({ unable, platform, newIndex }: Pick<VpcPorts, 'unable' | 'platform' | 'newIndex'>): Step<Vpc> {
  return {
    name: VpcCondition.Numbered,
    async run(vpc) {
      const reason = await unable();
      if (reason !== undefined) return stalled(VpcReason.NoNetworks, reason);
      const common = await platform();
      const held = vpc.status?.index;
      const index = held ?? newIndex(vpc, common);
      const uplink = uplinkOf(common, index);
      vpc.status = { ...vpc.status, index, transit: { machine: uplink.platform, router: uplink.router } };
      if (held === undefined) return waiting(VpcReason.Numbered, 'its transit addresses are written down first');
      return done(VpcReason.Numbered);
    },
  };
}
