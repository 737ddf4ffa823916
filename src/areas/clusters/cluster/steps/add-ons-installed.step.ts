import { ClusterCondition, ClusterReason } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { errorText } from '../../../../lib/log.ts';
import { done, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { AddOn } from '../../add-ons/add-on.ts';
import { installAddOns, type AddOnProblem } from '../../add-ons/install-add-ons.ts';
import type { ClusterPorts } from '../cluster.steps.ts';

/** What stands in the way is inside the cluster, where its administrators can change it at any time. */
const RETRY_MS = 10_000;
/** By then the watches show what this round has written, so that the next one begins behind it. */
const NEXT_ROUND_MS = 500;

/** The mandatory add-ons and those that were chosen are inside, as they should be. What its administrators refuse keeps none of them away. */
export function addOnsInstalled(ports: Pick<ClusterPorts, 'tenantOf' | 'boundsOf' | 'connection' | 'addOn'>): Step<TenantCluster> {
  return {
    name: ClusterCondition.AddOnsInstalled,
    keepsNobodyWaiting: true,
    async run(cluster) {
      const tenant = ports.tenantOf(cluster);
      const offers = (tenant && ports.boundsOf(tenant)?.addOns) ?? [];
      const chosen = offers.filter(({ name, mandatory }) => mandatory || cluster.spec.addOns?.includes(name));
      const addOns: AddOn[] = [];
      const problems: AddOnProblem[] = [];
      for (const offer of chosen) {
        if (offer.clash) problems.push({ addOn: offer.name, message: clashText(offer.clash) });
        try {
          const addOn = await ports.addOn(offer);
          if (addOn) addOns.push(addOn);
          else problems.push({ addOn: offer.name, message: 'there is no such add-on' });
        } catch (error) {
          problems.push({ addOn: offer.name, message: errorText(error) });
        }
      }
      const installation = await installAddOns(addOns, await ports.connection(cluster));
      problems.push(...installation.problems);
      cluster.status = { ...cluster.status, addOns: addOns.map(({ name }) => name) };
      const message = problems.map(({ addOn, message: why }) => `add-on "${addOn}": ${why}`).join('; ');
      if (problems.length > 0) return waiting(ClusterReason.AddOnRefused, message, installation.hasMore ? NEXT_ROUND_MS : RETRY_MS);
      if (installation.hasMore) return waiting(ClusterReason.AddOnsInstalling, 'add-ons are put into its namespaces', NEXT_ROUND_MS);
      return done('Installed', addOns.map(({ name }) => name).join(', '));
    },
  };
}

function clashText([taken, other]: readonly [string, string]): string {
  const both = `ClusterPolicies "${taken}" and "${other}" make it mandatory with different manifests, and those of "${taken}" are taken`;
  return `${both}; the operator has to rename one of them`;
}
