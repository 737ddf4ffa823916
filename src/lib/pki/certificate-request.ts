import { createPublicKey, type KeyObject } from 'node:crypto';
import { decodeAlternativeNames, encodeAlternativeNames, hasAlternativeNames, type AlternativeNames } from './alternative-names.ts';
import {
  bitString,
  children,
  contextConstructed,
  decode,
  encode,
  expectTag,
  integer,
  objectIdentifier,
  octetString,
  readBitString,
  readObjectIdentifier,
  sequence,
  TAG,
  type Node,
} from './der.ts';
import { decodeName, encodeName, type DistinguishedName } from './distinguished-name.ts';
import { parsePem, toPem } from './pem.ts';
import { encodeAlgorithm, signBytes, verifyBytes } from './signature.ts';

/** PKCS #10: someone asks for a certificate and proves to hold the key. */
export interface CertificateRequest {
  subject: DistinguishedName;
  publicKey: KeyObject;
  alternativeNames: AlternativeNames;
  /** Whether the request is signed with the key it asks a certificate for. */
  verify(): boolean;
}

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ALTERNATIVE_NAMES = '2.5.29.17';

/** @throws Error in Kubernetes' words when the text holds no certificate request, or a broken one. */
export function parseCertificateRequest(pem: string): CertificateRequest {
  const [block] = parsePem(pem);
  if (block?.label !== 'CERTIFICATE REQUEST') throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const [info, algorithm, signature] = children(expectTag(decode(block.der), TAG.sequence));
  const [, subject, spki, attributes] = children(expectTag(info, TAG.sequence));
  const publicKey = createPublicKey({ key: expectTag(spki, TAG.sequence).raw, format: 'der', type: 'spki' });
  return {
    subject: decodeName(subject),
    publicKey,
    alternativeNames: requestedNames(attributes),
    verify: () => verifyBytes(info.raw, readBitString(signature), algorithm, publicKey),
  };
}

function requestedNames(attributes: Node | undefined): AlternativeNames {
  const none: AlternativeNames = { dnsNames: [], addresses: [], emails: [], uris: [] };
  if (attributes === undefined || attributes.tag !== contextConstructed(0)) return none;
  for (const attribute of children(attributes)) {
    const [type, values] = children(attribute);
    if (readObjectIdentifier(type) !== EXTENSION_REQUEST) continue;
    for (const extension of children(children(expectTag(values, TAG.set))[0])) {
      const members = children(extension);
      if (readObjectIdentifier(members[0]) !== ALTERNATIVE_NAMES) continue;
      return decodeAlternativeNames(decode(expectTag(members.at(-1), TAG.octetString).content));
    }
  }
  return none;
}

/** PEM of a request for a certificate on `key`. */
export function createCertificateRequest(
  subject: DistinguishedName,
  keys: { privateKey: KeyObject; publicKey: KeyObject },
  names: Partial<AlternativeNames> = {},
): string {
  const wanted = sequence(objectIdentifier(ALTERNATIVE_NAMES), octetString(encodeAlternativeNames(names)));
  const attribute = sequence(objectIdentifier(EXTENSION_REQUEST), encode(TAG.set, sequence(wanted)));
  const info = sequence(
    integer(Buffer.from([0])),
    encodeName(subject),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    encode(contextConstructed(0), ...(hasAlternativeNames(names) ? [attribute] : [])),
  );
  const signature = bitString(signBytes(info, keys.privateKey));
  return toPem('CERTIFICATE REQUEST', sequence(info, encodeAlgorithm(keys.privateKey), signature));
}
