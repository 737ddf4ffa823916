import type { CertificateRequest } from '../../../lib/pki/certificate-request.ts';

export const KUBE_APISERVER_CLIENT = 'kubernetes.io/kube-apiserver-client';
export const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
export const KUBELET_SERVING = 'kubernetes.io/kubelet-serving';
export const LEGACY_UNKNOWN = 'kubernetes.io/legacy-unknown';

export const OUR_SIGNERS: readonly string[] = [KUBE_APISERVER_CLIENT, KUBELET_CLIENT, KUBELET_SERVING, LEGACY_UNKNOWN];

/** What a signer has against a request, in Kubernetes' words; undefined when nothing. */
export function objectionOf(signerName: string, request: CertificateRequest, usages: readonly string[]): string | undefined {
  switch (signerName) {
    case KUBE_APISERVER_CLIENT:
      return clientObjection(usages);
    case KUBELET_CLIENT:
      return kubeletClientObjection(request, usages);
    case KUBELET_SERVING:
      return kubeletServingObjection(request, usages);
    default:
      return undefined;
  }
}

function clientObjection(usages: readonly string[]): string | undefined {
  const foreign = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage));
  if (foreign !== undefined) return `invalid usage for client certificate: ${foreign}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}

export function kubeletClientObjection({ subject, alternativeNames }: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isOfNodes(subject.organizations)) return 'subject organization is not system:nodes';
  if (alternativeNames.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (alternativeNames.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (alternativeNames.addresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (alternativeNames.uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!subject.commonName.startsWith('system:node:')) return 'subject common name does not begin with system:node:';
  return usagesObjection(usages, 'client auth');
}

function kubeletServingObjection({ subject, alternativeNames }: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isOfNodes(subject.organizations)) return 'subject organization is not system:nodes';
  if (alternativeNames.dnsNames.length === 0 && alternativeNames.addresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (alternativeNames.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (alternativeNames.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return (
    usagesObjection(usages, 'server auth') ??
    (subject.commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:')
  );
}

function isOfNodes(organizations: readonly string[]): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes';
}

/** Key encipherment is for RSA only and may be left out. */
function usagesObjection(usages: readonly string[], purpose: 'client auth' | 'server auth'): string | undefined {
  const all = ['digital signature', 'key encipherment', purpose];
  const given = new Set(usages);
  const matches =
    all.every((usage) => given.has(usage) || usage === 'key encipherment') && [...given].every((usage) => all.includes(usage));
  return matches ? undefined : `usages did not match [${all.sort().join(' ')}]`;
}
