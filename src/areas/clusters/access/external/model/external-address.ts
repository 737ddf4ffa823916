import type { Vpc as VpcObject } from '../../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { addressAt, contains, ipv4Range } from '../../../../../kube/ipv4-range.ts';
import { isPlainAddress } from '../../../network/model/address-plan.ts';

export type ExternalAddress = { address: string } | { problem: string };

export function wantsExternal({ spec }: Pick<VpcObject, 'spec'>): boolean {
  return spec.external !== undefined || spec.vpn !== undefined;
}

/** The address that a VPC is reached at from outside: the one it asks for or has, or any that is free. `taken` are those of all others. */
export function externalAddressOf(
  { spec, status }: Pick<VpcObject, 'spec' | 'status'>,
  ranges: readonly string[],
  taken: ReadonlySet<string>,
): ExternalAddress {
  if (ranges.length === 0) {
    return { problem: 'Cannot give it an external address: this installation has none; start it with --external-addresses' };
  }
  const isOffered = (address: string): boolean => ranges.some((range) => contains(ipv4Range(range), address));
  const asked = spec.external?.address;
  if (asked !== undefined) {
    if (!isPlainAddress(asked) || !isOffered(asked)) {
      return {
        problem: `Cannot give it the external address "${asked}": tenants have those of ${ranges.join(', ')}; ask for one of these, or for none`,
      };
    }
    return taken.has(asked)
      ? { problem: `Cannot give it the external address "${asked}": it is in use; ask for another, or for none` }
      : { address: asked };
  }
  const held = status?.external?.address;
  if (held !== undefined && isOffered(held) && !taken.has(held)) return { address: held };
  for (const text of ranges) {
    const range = ipv4Range(text);
    // Of larger ranges the first and the last are no addresses on a wire.
    const edge = range.last - range.first > 1 ? 1 : 0;
    for (let offset = edge; offset <= range.last - range.first - edge; offset++) {
      const address = addressAt(range, offset);
      if (!taken.has(address)) return { address };
    }
  }
  return { problem: `Cannot give it an external address: all of ${ranges.join(', ')} are in use; the operator has to name more` };
}
