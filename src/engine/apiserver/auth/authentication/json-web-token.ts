import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import type { Json } from '../../../../kube/object.ts';

/** A key that tokens are checked with. The algorithm belongs to the key: what a token says about itself is compared, never followed. */
export interface VerificationKey {
  id: string;
  algorithm: SigningAlgorithm;
  key: KeyObject;
}

export type SigningAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256';

const HASHES: Record<SigningAlgorithm, string> = { ES256: 'sha256', ES384: 'sha384', ES512: 'sha512', RS256: 'sha256' };
const OF_CURVE: Record<string, SigningAlgorithm> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

function algorithmOf(key: KeyObject): SigningAlgorithm {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  const algorithm = OF_CURVE[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm === undefined) throw new Error(`Cannot sign tokens with a key of type "${key.asymmetricKeyType}"; use ECDSA or RSA`);
  return algorithm;
}

/** The id is a hash of the key, as Kubernetes derives it, so that a key keeps its id wherever it is loaded. */
export function verificationKey(key: KeyObject): VerificationKey {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
  return { id, algorithm: algorithmOf(publicKey), key: publicKey };
}

const encodePart = (part: Json): string => Buffer.from(JSON.stringify(part)).toString('base64url');

export function signToken(claims: Json, privateKey: KeyObject): string {
  const { id, algorithm } = verificationKey(privateKey);
  const signed = `${encodePart({ alg: algorithm, kid: id })}.${encodePart(claims)}`;
  const signature = sign(HASHES[algorithm], Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** A token taken apart and not yet believed. */
export interface UnverifiedToken {
  header: Json;
  claims: Json;
  signed: string;
  signature: string;
}

const PART = /^[A-Za-z0-9_-]+$/;

/** Undefined when the text is not a token in compact form. */
export function parseToken(token: string): UnverifiedToken | undefined {
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every((part) => PART.test(part))) return undefined;
  const header = decodePart(parts[0]);
  const claims = decodePart(parts[1]);
  if (header === undefined || claims === undefined) return undefined;
  return { header, claims, signed: `${parts[0]}.${parts[1]}`, signature: parts[2] };
}

function decodePart(part: string): Json {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether one of the keys signed it: the one it names, or any when it names none. @throws Error that says what is wrong */
export function checkSignature(token: UnverifiedToken, keys: readonly VerificationKey[]): void {
  const { kid, alg, crit } = token.header;
  const candidates = kid === undefined || kid === '' ? keys : keys.filter((key) => key.id === kid);
  if (candidates.length === 0 || crit !== undefined) throw new Error('invalid signature, no keys found');
  const signature = Buffer.from(token.signature, 'base64url');
  const data = Buffer.from(token.signed);
  const isBy = ({ algorithm, key }: VerificationKey): boolean =>
    alg === algorithm && verify(HASHES[algorithm], data, { key, dsaEncoding: 'ieee-p1363' }, signature);
  if (!candidates.some(isBy)) throw new Error('go-jose/go-jose: error in cryptographic primitive');
}
