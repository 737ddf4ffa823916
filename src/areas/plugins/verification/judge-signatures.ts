import type { Publisher } from '../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { VersionReason } from '../../../api/plugins.tenantry.dev/v1alpha1/version-reasons.ts';
import { envelopeIn, preAuthenticationEncoding, SIGN_PREDICATE, statementIn } from '../../../lib/cosign/bundle.ts';
import { readPublicKey, type VerifyingKey } from '../../../lib/cosign/signing-keys.ts';
import { payloadProblem } from '../../../lib/cosign/simple-signing.ts';

/** Something in the registry that may be a signature of an image. */
export type Candidate = { form: 'tag'; payload: Buffer; signature: Buffer } | { form: 'bundle'; bundle: Buffer };

export type PublisherKey = Publisher['spec']['keys'][number];

export interface GoodSignature {
  good: true;
  keyId: string;
  form: Candidate['form'];
  /** Of the key. */
  fingerprint: string;
  /** Predicate types of everything else that the publisher said of this image. */
  attested: string[];
}

export type SignatureVerdict = GoodSignature | { good: false; reason: string; message: string };

interface ReadKey extends VerifyingKey {
  id: string;
  /** Why its signatures do not count; undefined when they do. */
  refusal: { reason: string; why: string } | undefined;
}

/** Whether one of the candidates is a signature of the image by a key of its publisher that counts at this time. */
export function judgeSignatures(
  digest: string,
  candidates: readonly Candidate[],
  keys: readonly PublisherKey[],
  now: number,
): SignatureVerdict {
  if (candidates.length === 0) return { good: false, reason: VersionReason.NotSigned, message: `${digest} has no signature` };
  const read = keys.flatMap((key) => readKey(key, now));
  if (read.length === 0) {
    return { good: false, reason: VersionReason.NoUsableKey, message: 'the Publisher has no key that can be read; see its spec.keys' };
  }
  const judged = candidates.map((candidate) => judge(digest, candidate, read));
  const good = judged.find((each) => each.outcome === 'good');
  if (good?.outcome === 'good') {
    const attested = judged.flatMap((each) => (each.outcome === 'attested' ? [each.predicateType] : []));
    return { good: true, keyId: good.key.id, form: good.form, fingerprint: good.key.fingerprint, attested };
  }
  return refusalOf(judged);
}

/** What of a key's times keeps it from counting. A key that is revoked never counts again, whenever the signature was made. */
export function keyRefusal(
  { id, validFrom, validUntil, revokedAt }: PublisherKey,
  now: number,
): { reason: string; why: string } | undefined {
  if (revokedAt !== undefined) return { reason: VersionReason.KeyRevoked, why: `the key "${id}", which was revoked at ${revokedAt}` };
  if (validFrom !== undefined && now < Date.parse(validFrom)) {
    return { reason: VersionReason.KeyNotValid, why: `the key "${id}", which is not valid before ${validFrom}` };
  }
  if (validUntil !== undefined && now >= Date.parse(validUntil)) {
    return { reason: VersionReason.KeyNotValid, why: `the key "${id}", which was valid until ${validUntil}` };
  }
  return undefined;
}

/** The fingerprint of a key; undefined when it cannot be read. */
export function fingerprintOf(key: PublisherKey): string | undefined {
  try {
    return readPublicKey(key.publicKey).fingerprint;
  } catch {
    return undefined;
  }
}

function readKey(key: PublisherKey, now: number): ReadKey[] {
  try {
    return [{ ...readPublicKey(key.publicKey), id: key.id, refusal: keyRefusal(key, now) }];
  } catch {
    return [];
  }
}

type Judged =
  | { outcome: 'good'; key: ReadKey; form: Candidate['form'] }
  /** Signed by the publisher, but not as a signature of the image. */
  | { outcome: 'attested'; predicateType: string; why: string }
  | { outcome: 'refused'; reason: string; why: string };

function judge(digest: string, candidate: Candidate, keys: readonly ReadKey[]): Judged {
  const opened = openCandidate(candidate);
  if (typeof opened === 'string') return { outcome: 'refused', reason: VersionReason.SignatureInvalid, why: opened };
  // A key that counts is looked for first: another that does not may hold the same bytes.
  const able = keys.filter((key) => opened.signatures.some((signature) => key.verify(opened.signed, signature)));
  const key = able.find(({ refusal }) => refusal === undefined) ?? able[0];
  if (key === undefined) {
    const why = `no key of the publisher made it (${keys.map(({ id }) => `"${id}"`).join(', ')})`;
    return { outcome: 'refused', reason: VersionReason.SignatureInvalid, why };
  }
  if (key.refusal !== undefined) return { outcome: 'refused', reason: key.refusal.reason, why: `it is by ${key.refusal.why}` };
  const { problem, predicateType } = opened.about(digest);
  if (problem === undefined) return { outcome: 'good', key, form: candidate.form };
  if (predicateType !== undefined) return { outcome: 'attested', predicateType, why: problem };
  return { outcome: 'refused', reason: VersionReason.SignatureInvalid, why: problem };
}

interface Opened {
  signed: Buffer;
  signatures: Buffer[];
  /** What is wrong with what it says; with a predicate type when it is about this image all the same. */
  about(digest: string): { problem?: string; predicateType?: string };
}

function openCandidate(candidate: Candidate): Opened | string {
  if (candidate.form === 'tag') {
    const { payload, signature } = candidate;
    return { signed: payload, signatures: [signature], about: (digest) => ({ problem: payloadProblem(payload, digest) }) };
  }
  const envelope = envelopeIn(candidate.bundle);
  if (typeof envelope === 'string') return envelope;
  return {
    signed: preAuthenticationEncoding(envelope.payload, envelope.payloadType),
    signatures: envelope.signatures,
    about(digest) {
      const statement = statementIn(envelope);
      if (typeof statement === 'string') return { problem: statement };
      const { predicateType, digests } = statement;
      if (!digests.includes(digest)) return { problem: `it is for another image, ${digests.slice(0, 3).join(', ') || 'none'}` };
      if (predicateType === SIGN_PREDICATE) return {};
      return { problem: `it is an attestation of the type "${predicateType.slice(0, 100)}", not a signature of the image`, predicateType };
    },
  };
}

/** One refusal for all: what came closest counts, and all are told. */
function refusalOf(judged: readonly Judged[]): SignatureVerdict {
  const refused = judged.flatMap((each) => (each.outcome === 'refused' ? [each] : []));
  const order = [VersionReason.KeyRevoked, VersionReason.KeyNotValid, VersionReason.SignatureInvalid];
  const reason = order.find((each) => refused.some((one) => one.reason === each)) ?? VersionReason.SignatureInvalid;
  const whys = [...new Set(judged.flatMap((each) => (each.outcome === 'good' ? [] : [each.why])))];
  const shown = whys.slice(0, 3).join('; ') + (whys.length > 3 ? '; ...' : '');
  return { good: false, reason, message: `of ${judged.length} found, none is a good signature: ${shown}` };
}
