import { sign, verify, type KeyObject } from 'node:crypto';
import { children, DerError, encode, expectTag, objectIdentifier, readObjectIdentifier, sequence, TAG, type Node } from './der.ts';

/** The signature algorithms of certificates and certificate requests; SHA-1 and older are left out on purpose. */
interface Algorithm {
  oid: string;
  hash: string | null;
  keyType: string;
  /** RSA wants an explicit NULL for its parameters, the others want none. */
  nullParameters: boolean;
}

const ALGORITHMS: readonly Algorithm[] = [
  { oid: '1.2.840.10045.4.3.2', hash: 'sha256', keyType: 'ec', nullParameters: false },
  { oid: '1.2.840.10045.4.3.3', hash: 'sha384', keyType: 'ec', nullParameters: false },
  { oid: '1.2.840.10045.4.3.4', hash: 'sha512', keyType: 'ec', nullParameters: false },
  { oid: '1.2.840.113549.1.1.11', hash: 'sha256', keyType: 'rsa', nullParameters: true },
  { oid: '1.2.840.113549.1.1.12', hash: 'sha384', keyType: 'rsa', nullParameters: true },
  { oid: '1.2.840.113549.1.1.13', hash: 'sha512', keyType: 'rsa', nullParameters: true },
  { oid: '1.3.101.112', hash: null, keyType: 'ed25519', nullParameters: false },
];

const HASH_OF_CURVE: Record<string, string> = { prime256v1: 'sha256', secp384r1: 'sha384', secp521r1: 'sha512' };

function algorithmOf(key: KeyObject): Algorithm {
  const hash = key.asymmetricKeyType === 'ec' ? HASH_OF_CURVE[key.asymmetricKeyDetails?.namedCurve ?? ''] : 'sha256';
  const found = ALGORITHMS.find(
    (candidate) => candidate.keyType === key.asymmetricKeyType && (candidate.hash === null || candidate.hash === hash),
  );
  if (!found) throw new Error(`Cannot sign with a key of type "${key.asymmetricKeyType}"; use ECDSA, RSA or Ed25519`);
  return found;
}

export function encodeAlgorithm(key: KeyObject): Buffer {
  const { oid, nullParameters } = algorithmOf(key);
  return nullParameters ? sequence(objectIdentifier(oid), encode(TAG.null, Buffer.alloc(0))) : sequence(objectIdentifier(oid));
}

export function signBytes(bytes: Uint8Array, key: KeyObject): Buffer {
  return sign(algorithmOf(key).hash, bytes, key);
}

/** Whether `signature`, made with the algorithm the document names, is of this key over these bytes. */
export function verifyBytes(bytes: Uint8Array, signature: Uint8Array, algorithm: Node, key: KeyObject): boolean {
  const oid = readObjectIdentifier(children(expectTag(algorithm, TAG.sequence))[0]);
  const known = ALGORITHMS.find((candidate) => candidate.oid === oid);
  if (!known) throw new DerError(`signature algorithm ${oid} is not supported`);
  if (known.keyType !== key.asymmetricKeyType) return false;
  return verify(known.hash, bytes, key, signature);
}
