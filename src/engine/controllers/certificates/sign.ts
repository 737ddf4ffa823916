import { issueCertificate, type Authority } from '../../../lib/pki/certificate.ts';
import type { CertificateRequest } from '../../../lib/pki/certificate-request.ts';

const MINUTE_MS = 60_000;
/** A year, as kube-controller-manager's --cluster-signing-duration. */
export const LONGEST_MS = 365 * 24 * 60 * MINUTE_MS;
const SHORTEST_MS = 10 * MINUTE_MS;
/** Clocks of others may be behind. */
const BACKDATE_MS = 5 * MINUTE_MS;
/** From here on the backdating is taken off at the end, where it is a small part of the whole. */
const SHORT_LIVED_MS = 8 * 60 * MINUTE_MS;

export interface Validity {
  notBefore: Date;
  notAfter: Date;
}

/** When a certificate is valid that is asked for now; never longer than its authority. */
export function validityOf(expirationSeconds: number | undefined, authorityNotAfter: number, now: number): Validity {
  const asked = expirationSeconds === undefined ? LONGEST_MS : expirationSeconds * 1000;
  const duration = Math.min(Math.max(asked, SHORTEST_MS), LONGEST_MS);
  const end = now + (duration < SHORT_LIVED_MS ? duration : duration - BACKDATE_MS);
  return { notBefore: new Date(now - BACKDATE_MS), notAfter: new Date(Math.min(end, authorityNotAfter)) };
}

/** PEM of the certificate. @throws Error in Kubernetes' words */
export function signRequest(
  request: CertificateRequest,
  usages: readonly string[],
  expirationSeconds: number | undefined,
  authority: Authority,
  now: number,
): string {
  if (!request.verify()) throw new Error('unable to verify certificate request signature');
  const authorityNotAfter = Date.parse(authority.certificate.validTo);
  if (now >= authorityNotAfter) throw new Error(`the signer has expired: NotAfter=${authority.certificate.validTo}`);
  const { subject, publicKey, alternativeNames } = request;
  return issueCertificate(
    { subject, publicKey, alternativeNames, usages, ...validityOf(expirationSeconds, authorityNotAfter, now) },
    authority,
  );
}
