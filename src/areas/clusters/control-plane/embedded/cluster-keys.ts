import { isIP } from 'node:net';
import type { Clock } from '../../../../lib/clock.ts';
import { ensurePki } from '../../../../lib/pki/ensure-pki.ts';
import type { WantedControlPlane } from '../control-planes.ts';
import { ensureOwner, firstEnd } from '../process/owner-keys.ts';
import type { PlaneKeys } from '../process/plane-kind.ts';

/** Makes what is missing, renews what ends soon. */
export async function ensureClusterKeys(
  folder: string,
  { names, accessRevision }: WantedControlPlane,
  endpoint: { address: string; serviceAddress: string },
  clock: Pick<Clock, 'now'>,
  leavesSince?: number,
): Promise<PlaneKeys> {
  const pki = await ensurePki(folder, {
    names: names.filter((name) => isIP(name) === 0),
    addresses: [endpoint.address, endpoint.serviceAddress, ...names.filter((name) => isIP(name) !== 0)],
    leavesSince,
    clock,
  });
  const { owner, ownerGroup } = await ensureOwner(folder, pki.authority, accessRevision, clock.now());
  const { authority, frontProxyAuthority, serving, kubeletClient, admin, frontProxyClient } = pki;
  return {
    authorityPem: authority.certificatePem,
    frontProxyAuthorityPem: frontProxyAuthority.certificatePem,
    owner,
    ownerGroup,
    platform: admin,
    expire: firstEnd([serving, kubeletClient, admin, frontProxyClient, owner, authority, frontProxyAuthority]),
    edition: serving.certificate.serialNumber,
  };
}
