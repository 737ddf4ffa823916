import { shown } from './simple-signing.ts';

/** The form of cosign 3: a referrer of the image that holds a bundle with a DSSE envelope around an in-toto statement. */
export const BUNDLE_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json';
export const EMPTY_TYPE = 'application/vnd.oci.empty.v1+json';
export const PREDICATE_ANNOTATION = 'dev.sigstore.bundle.predicateType';
/** What makes a statement a signature. cosign itself takes any predicate for one, so that a signed SBOM passes; we do not. */
export const SIGN_PREDICATE = 'https://sigstore.dev/cosign/sign/v1';
const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
/** `cosign attest` still writes the older one. */
const STATEMENT_TYPES: unknown[] = [STATEMENT_TYPE, 'https://in-toto.io/Statement/v0.1'];
const STATEMENT_PAYLOAD = 'application/vnd.in-toto+json';

export interface Envelope {
  payloadType: string;
  payload: Buffer;
  signatures: Buffer[];
}

/** A statement about an image: what kind, about which digests. */
export interface Statement {
  predicateType: string;
  digests: string[];
}

export function signStatement(digest: string): Buffer {
  const subject = [{ digest: { sha256: digest.slice('sha256:'.length) }, annotations: {} }];
  return Buffer.from(JSON.stringify({ _type: STATEMENT_TYPE, subject, predicateType: SIGN_PREDICATE, predicate: {} }));
}

/** What a signature of an envelope covers: its type and payload, with their lengths, so that neither can be taken for the other. */
export function preAuthenticationEncoding(payload: Buffer, payloadType = STATEMENT_PAYLOAD): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

export function bundleOf(statement: Buffer, signature: Buffer, keyHint: string): Buffer {
  return Buffer.from(
    JSON.stringify({
      mediaType: BUNDLE_TYPE,
      verificationMaterial: { publicKey: { hint: keyHint }, tlogEntries: [] },
      dsseEnvelope: {
        payload: statement.toString('base64'),
        payloadType: STATEMENT_PAYLOAD,
        signatures: [{ sig: signature.toString('base64') }],
      },
    }),
  );
}

/** The envelope of a bundle, or why there is none. */
export function envelopeIn(bundle: Buffer): Envelope | string {
  const value = parsed(bundle);
  const { mediaType, dsseEnvelope: envelope } = value ?? {};
  if (mediaType !== BUNDLE_TYPE) return `it is of the type ${shown(mediaType)}, not a bundle of version 0.3`;
  const { payload, payloadType, signatures } = (envelope ?? {}) as Record<string, unknown>;
  if (typeof payload !== 'string' || typeof payloadType !== 'string' || !Array.isArray(signatures))
    return 'its bundle holds no DSSE envelope';
  const made = signatures.slice(0, MAX_SIGNATURES).flatMap((each: unknown) => {
    const sig = (each as { sig?: unknown } | null)?.sig;
    return typeof sig === 'string' ? [Buffer.from(sig, 'base64')] : [];
  });
  return { payloadType, payload: Buffer.from(payload, 'base64'), signatures: made };
}

/** The statement in an envelope, or why it is none. To be asked only after its signature was found to be good. */
export function statementIn({ payload, payloadType }: Envelope): Statement | string {
  if (payloadType !== STATEMENT_PAYLOAD) return `its payload is of the type ${shown(payloadType)}, not an in-toto statement`;
  const { _type: type, predicateType, subject } = parsed(payload) ?? {};
  if (!STATEMENT_TYPES.includes(type) || typeof predicateType !== 'string' || !Array.isArray(subject))
    return 'its payload is no in-toto statement';
  const digests = subject.flatMap((each: unknown) => {
    const hex = (each as { digest?: { sha256?: unknown } } | null)?.digest?.sha256;
    return typeof hex === 'string' ? [`sha256:${hex}`] : [];
  });
  return { predicateType, digests };
}

const MAX_SIGNATURES = 10;

function parsed(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
