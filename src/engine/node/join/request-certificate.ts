import { createHash, type KeyObject } from 'node:crypto';
import type { Client } from '../../../client/client.ts';
import { CertificateSigningRequest } from '../../../client/kinds.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { isStatusError } from '../../../kube/status.ts';
import { createCertificateRequest } from '../../../lib/pki/certificate-request.ts';

export const KUBELET_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
export const KUBELET_SERVING_SIGNER = 'kubernetes.io/kubelet-serving';

export interface CertificateWish {
  signerName: typeof KUBELET_CLIENT_SIGNER | typeof KUBELET_SERVING_SIGNER;
  /** The node's. */
  name: string;
  /** Of the node's own server. */
  addresses: readonly string[];
}

type Keys = { privateKey: KeyObject; publicKey: KeyObject };

/**
 * Asks the API server for a certificate and waits until somebody has approved and signed it.
 * @param waits told the name of the request
 * @throws Error when it is refused; StatusError when it cannot be asked
 */
export async function requestCertificate(
  client: Client,
  wish: CertificateWish,
  keys: Keys,
  { signal, waits }: { signal?: AbortSignal; waits?: (request: string) => void } = {},
): Promise<string> {
  const isServing = wish.signerName === KUBELET_SERVING_SIGNER;
  const subject = { commonName: `system:node:${wish.name}`, organizations: ['system:nodes'] };
  const names = isServing ? { dnsNames: [wish.name], addresses: [...wish.addresses] } : {};
  const request = Buffer.from(createCertificateRequest(subject, keys, names)).toString('base64');
  const usages = ['digital signature', isServing ? 'server auth' : 'client auth'];
  const name = requestName(wish, keys.publicKey);
  const requests = client.resource(CertificateSigningRequest);
  const spec = { request, signerName: wish.signerName, usages };
  const made = await requests.create({ metadata: { name }, spec }, { signal }).catch((error: unknown) => {
    // An answer that got lost.
    if (isStatusError(error, 'AlreadyExists')) return requests.get(name, { signal });
    throw error;
  });
  const first = certificateIn(made);
  if (first !== undefined) return first;
  waits?.(name);
  for (;;) {
    for await (const update of requests.watch({ fieldSelector: `metadata.name=${name}`, signal })) {
      if (update.type === 'DELETED')
        throw new Error(`Cannot get a certificate for node "${wish.name}": its request was deleted; join again`);
      const certificate = 'object' in update ? certificateIn(update.object) : undefined;
      if (certificate !== undefined) return certificate;
    }
    signal?.throwIfAborted();
  }
}

/** Undefined while nobody has signed it. @throws Error when somebody will not */
function certificateIn({ metadata, status }: NonNullable<(typeof CertificateSigningRequest)['objectType']>): string | undefined {
  for (const type of ['Denied', 'Failed']) {
    const refusal = findCondition(status?.conditions, type);
    if (refusal) throw new CertificateRefused(`certificate request "${metadata.name}" was refused: ${refusal.message ?? refusal.reason}`);
  }
  return status?.certificate === undefined ? undefined : Buffer.from(status.certificate, 'base64').toString('utf8');
}

/** One name for one key, as the kubelet has it: a request that is repeated finds itself. */
function requestName({ signerName, name }: CertificateWish, publicKey: KeyObject): string {
  const hash = createHash('sha256')
    .update(signerName)
    .update(name)
    .update(publicKey.export({ type: 'spki', format: 'der' }));
  return `node-csr-${hash.digest('hex').slice(0, 40)}`;
}

/** To ask again would not help. */
export class CertificateRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CertificateRefused';
  }
}
