import { createHash, createPublicKey, randomBytes, type KeyObject, type X509Certificate } from 'node:crypto';
import { encodeAlternativeNames, hasAlternativeNames, type AlternativeNames } from './alternative-names.ts';
import { encodeExtendedKeyUsage, encodeKeyUsage, unknownUsages } from './certificate-usages.ts';
import {
  bitString,
  boolean,
  children,
  contextConstructed,
  contextPrimitive,
  decode,
  encode,
  expectTag,
  integer,
  objectIdentifier,
  octetString,
  readBitString,
  sequence,
  TAG,
  time,
} from './der.ts';
import { decodeName, encodeName, type DistinguishedName } from './distinguished-name.ts';
import { toPem } from './pem.ts';
import { encodeAlgorithm, signBytes } from './signature.ts';

export interface CertificateTemplate {
  subject: DistinguishedName;
  publicKey: KeyObject;
  /** Usages in Kubernetes' words: `digital signature`, `server auth` ... */
  usages: readonly string[];
  notBefore: Date;
  notAfter: Date;
  isAuthority?: boolean;
  alternativeNames?: Partial<AlternativeNames>;
  /** Sixteen random bytes unless given. */
  serial?: Uint8Array;
}

/** Who signs: an authority's certificate and key. */
export interface Authority {
  certificate: X509Certificate;
  key: KeyObject;
}

const EXTENSION = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Clocks of clients may be a little behind ours; a certificate is valid for them too. */
export const NOT_BEFORE_SKEW_MS = 5 * 60 * 1000;

/** PEM of a certificate signed by `authority`. */
export function issueCertificate(template: CertificateTemplate, authority: Authority): string {
  const issuer = subjectBytes(authority.certificate);
  return build(template, issuer, authority.key, keyIdentifier(authority.certificate.publicKey));
}

/** PEM of a certificate signed with the very key it names: a root. */
export function issueSelfSigned(template: CertificateTemplate, key: KeyObject): string {
  return build(template, encodeName(template.subject), key, keyIdentifier(template.publicKey));
}

function build(template: CertificateTemplate, issuer: Buffer, key: KeyObject, authorityKeyId: Buffer): string {
  const unknown = unknownUsages(template.usages);
  if (unknown.length > 0) throw new Error(`unrecognized usage values: [${unknown.map((usage) => JSON.stringify(usage)).join(' ')}]`);
  const algorithm = encodeAlgorithm(key);
  const toBeSigned = sequence(
    encode(contextConstructed(0), integer(Buffer.from([2]))),
    integer(template.serial ?? randomBytes(16)),
    algorithm,
    issuer,
    sequence(time(template.notBefore), time(template.notAfter)),
    encodeName(template.subject),
    template.publicKey.export({ type: 'spki', format: 'der' }),
    encode(contextConstructed(3), sequence(...extensions(template, authorityKeyId))),
  );
  return toPem('CERTIFICATE', sequence(toBeSigned, algorithm, bitString(signBytes(toBeSigned, key))));
}

function extensions(template: CertificateTemplate, authorityKeyId: Buffer): Buffer[] {
  const found: Buffer[] = [];
  const keyUsage = encodeKeyUsage(template.usages);
  if (keyUsage) found.push(extension(EXTENSION.keyUsage, true, keyUsage));
  const extendedKeyUsage = encodeExtendedKeyUsage(template.usages);
  if (extendedKeyUsage) found.push(extension(EXTENSION.extendedKeyUsage, false, extendedKeyUsage));
  const isAuthority = template.isAuthority === true;
  found.push(extension(EXTENSION.basicConstraints, true, isAuthority ? sequence(boolean(true)) : sequence()));
  if (isAuthority) found.push(extension(EXTENSION.subjectKeyId, false, octetString(keyIdentifier(template.publicKey))));
  found.push(extension(EXTENSION.authorityKeyId, false, sequence(encode(contextPrimitive(0), authorityKeyId))));
  const names = template.alternativeNames ?? {};
  if (hasAlternativeNames(names)) {
    // Critical when there is nothing else to identify the holder by, as RFC 5280 asks.
    const alone = template.subject.commonName === '' && template.subject.organizations.length === 0;
    found.push(extension(EXTENSION.alternativeNames, alone, encodeAlternativeNames(names)));
  }
  return found;
}

function extension(oid: string, critical: boolean, content: Buffer): Buffer {
  return critical
    ? sequence(objectIdentifier(oid), boolean(true), octetString(content))
    : sequence(objectIdentifier(oid), octetString(content));
}

/** SHA-1 over the key's bits, the method that RFC 5280 describes; it names the key and protects nothing. */
function keyIdentifier(key: KeyObject): Buffer {
  const spki = key.type === 'private' ? createPublicKey(key) : key;
  const [, bits] = children(decode(spki.export({ type: 'spki', format: 'der' })));
  return createHash('sha1').update(readBitString(bits)).digest();
}

/** Members of the signed part from the serial number on: the version in front is left out when it is the first one. */
function signedMembers(certificate: Uint8Array): ReturnType<typeof children> {
  const [toBeSigned] = children(expectTag(decode(certificate), TAG.sequence));
  const members = children(expectTag(toBeSigned, TAG.sequence));
  return members[0].tag === contextConstructed(0) ? members.slice(1) : members;
}

const SUBJECT = 4;

/** The subject exactly as the authority wrote it: issuer and subject must be the same bytes for a chain to hold. */
function subjectBytes(certificate: X509Certificate): Buffer {
  return signedMembers(certificate.raw)[SUBJECT].raw;
}

export function subjectOf(certificate: Uint8Array): DistinguishedName {
  return decodeName(signedMembers(certificate)[SUBJECT]);
}
