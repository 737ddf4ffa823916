/** The older form of a cosign signature: a manifest at a tag made of the image's digest, one layer per signature. */
export const SIMPLE_SIGNING_TYPE = 'application/vnd.dev.cosign.simplesigning.v1+json';
export const SIGNATURE_ANNOTATION = 'dev.cosignproject.cosign/signature';
const PAYLOAD_TYPE = 'cosign container image signature';

/** `sha256-<hex>.sig`. */
export function signatureTag(digest: string): string {
  return `${digest.replace(':', '-')}.sig`;
}

export function simpleSigningPayload(repository: string, digest: string): Buffer {
  const image = { 'docker-manifest-digest': digest };
  const critical = { identity: { 'docker-reference': repository }, image, type: PAYLOAD_TYPE };
  return Buffer.from(JSON.stringify({ critical, optional: null }));
}

/** Whether a payload says what a signature of this image says; if not, why. To be asked only after its signature was found to be good. */
export function payloadProblem(payload: Buffer, digest: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString('utf8'));
  } catch {
    return 'its payload is no JSON';
  }
  const critical = (value as { critical?: { type?: unknown; image?: Record<string, unknown> } } | null)?.critical;
  if (critical?.type !== PAYLOAD_TYPE) return `it is of the type ${shown(critical?.type)}, not of a "${PAYLOAD_TYPE}"`;
  const signed = critical.image?.['docker-manifest-digest'];
  return signed === digest ? undefined : `it is for another image, ${shown(signed)}`;
}

export function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : 'nothing';
}
