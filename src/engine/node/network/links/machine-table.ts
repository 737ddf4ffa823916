import type { RouterPlan } from './router.ts';

/**
 * The only rules in the machine's own network. What other networks of the machine pass on to Pods would come from the machine's own address,
 * which policies always let in: nobody but the machine itself opens connections to Pods.
 */
export function machineTable({ id, podCidr, egress }: Pick<RouterPlan, 'id' | 'podCidr' | 'egress'>): string {
  const name = `ip tenantry-${id}`;
  const link = `tnt${id}`;
  const masquerade = `
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr ${podCidr} oifname != "${link}" masquerade
  }`;
  return `add table ${name}
delete table ${name}
table ${name} {
  chain forward {
    type filter hook forward priority filter; policy accept;
    oifname "${link}" ct direction original drop
  }${egress ? masquerade : ''}
}
`;
}
