import { VpcCondition, VpcReason, type Vpc } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { errorText } from '../../../../lib/log.ts';
import { done, stalled, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { gatewayOf } from '../../access/vpn/model/gateway.ts';
import type { VpcPorts } from '../vpc.steps.ts';

/** What a program or the kernel refused may be in order again at any time, and nothing tells when. */
const RETRY_MS = 5000;

/** Those who have a key are let in at its external address. */
export function vpnServed({ gateways, routerOf }: Pick<VpcPorts, 'gateways' | 'routerOf'>): Step<Vpc> {
  return {
    name: VpcCondition.VpnServed,
    async run(vpc) {
      const { vpn: _before, ...rest } = vpc.status ?? {};
      const { uid, name } = vpc.metadata;
      const gateway = gatewayOf(vpc);
      vpc.status = rest;
      if (gateway === undefined) {
        await gateways.remove(uid!);
        return done('NotAsked');
      }
      const router = await routerOf(name!);
      const unable =
        router === undefined ? 'the routers of this provider run no programs; use the provider linux' : await gateways.unable();
      if (router === undefined || unable !== undefined) return stalled(VpcReason.NoProgram, unable!);
      const { port, external } = gateway;
      try {
        const { publicKey } = await gateways.ensure({
          id: uid!,
          link: router.vpnLink,
          namespace: router.namespace,
          port,
          peers: vpc.spec.vpn!.peers,
        });
        vpc.status = { ...rest, vpn: { publicKey, endpoint: `${external}:${port}` } };
        return done('Served', `${external}:${port}`);
      } catch (error) {
        return waiting(VpcReason.NotMade, errorText(error), RETRY_MS);
      }
    },
  };
}

/** While the VPC is deleted: its gateway ends before its router does. */
export function vpnGone({ gateways }: Pick<VpcPorts, 'gateways'>): Step<Vpc> {
  return {
    name: VpcCondition.VpnGone,
    async run({ metadata }) {
      await gateways.remove(metadata.uid!);
      return done('Gone');
    },
  };
}
