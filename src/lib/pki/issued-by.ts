import type { X509Certificate } from 'node:crypto';

/** By its name, and by its key. */
export function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}
