import type { X509Certificate } from 'node:crypto';
import { createPrivateKey, X509Certificate as Certificate } from 'node:crypto';
import { isIssuedBy } from '../../../lib/pki/issued-by.ts';
import { certificateBlocks } from '../../../lib/pki/pem.ts';

export interface HeldPair {
  certificatePem: string;
  keyPem: string;
}

/** What a certificate of a node has to be to be used. */
export interface Wanted {
  name: string;
  addresses: readonly string[];
  authorityPem: string;
}

/** Undefined when it is good; else why another one is needed. */
export function objectionTo({ certificatePem, keyPem }: Partial<HeldPair>, wanted: Wanted, now: number): string | undefined {
  if (certificatePem === undefined || keyPem === undefined) return 'there is none';
  let certificate: X509Certificate;
  let authorities: X509Certificate[];
  try {
    certificate = new Certificate(certificatePem);
    authorities = authoritiesIn(wanted.authorityPem);
    if (!certificate.checkPrivateKey(createPrivateKey(keyPem))) return 'its key belongs to another';
  } catch {
    return 'it cannot be read';
  }
  if (!certificate.subject.split('\n').includes(`CN=system:node:${wanted.name}`)) return 'it is for another node';
  if (!authorities.some((authority) => isIssuedBy(certificate, authority))) {
    return 'it is of another cluster';
  }
  if (wanted.addresses.some((address) => certificate.checkIP(address) === undefined)) return 'it is for another address';
  return Date.parse(certificate.validTo) <= now ? 'it has expired' : undefined;
}

export function authoritiesIn(pem: string): X509Certificate[] {
  return certificateBlocks(pem).map((block) => new Certificate(block));
}

/** Between 70 and 90 % of its life, as the kubelet has it, so that nodes that came together do not come again together. */
export function renewalTime(certificatePem: string, random: () => number): number {
  const { validFrom, validTo } = new Certificate(certificatePem);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return from + (to - from) * (0.7 + 0.2 * random());
}
