import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import { parsePem } from '../../../lib/pki/pem.ts';
import type { RunningControlPlane } from '../control-plane/control-planes.ts';

const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';

/**
 * Extension API servers of a cluster learn from a ConfigMap whom to let in. The API server of Kubernetes adds authorities to it and takes none away before
 * they have ended: what was revoked has to go by somebody else's hand.
 */
export async function forgetAuthorities(
  tenantClient: Client,
  { authorityPem, frontProxyAuthorityPem }: Pick<RunningControlPlane, 'authorityPem' | 'frontProxyAuthorityPem'>,
): Promise<void> {
  const maps = tenantClient.resource(ConfigMap, NAMESPACE);
  const trusted = { 'client-ca-file': authorityPem, 'requestheader-client-ca-file': frontProxyAuthorityPem };
  try {
    const { data = {} } = await maps.get(NAME);
    const wrong = Object.entries(trusted).filter(([key, pem]) => pem !== undefined && hasOthers(data[key] ?? '', pem));
    if (wrong.length > 0) await maps.patch(NAME, { type: 'merge', patch: { data: Object.fromEntries(wrong) } });
  } catch (error) {
    // The API server makes it anew, of those that it trusts.
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

/** Whether there are certificates in it that are not among these. */
export function hasOthers(bundle: string, trusted: string): boolean {
  const known = new Set(parsePem(trusted).map(({ der }) => der.toString('base64')));
  return parsePem(bundle).some(({ der }) => !known.has(der.toString('base64')));
}
