import { createHash } from 'node:crypto';
import { OCI_MANIFEST, parseJson } from '../oci/manifest.ts';
import type { Repository } from '../oci/repository.ts';
import {
  BUNDLE_TYPE,
  bundleOf,
  EMPTY_TYPE,
  PREDICATE_ANNOTATION,
  preAuthenticationEncoding,
  SIGN_PREDICATE,
  signStatement,
} from './bundle.ts';
import type { SigningKey } from './signing-keys.ts';
import { SIGNATURE_ANNOTATION, SIMPLE_SIGNING_TYPE, signatureTag, simpleSigningPayload } from './simple-signing.ts';

export interface SignedImage {
  /** With its registry: `registry.example/team/app`. */
  name: string;
  /** Of its manifest, as the registry has it. */
  digest: string;
  mediaType: string;
  size: number;
}

const IMAGE_CONFIG = 'application/vnd.oci.image.config.v1+json';

/** Writes a signature of an image beside it, in both forms that verifiers look for. */
export async function signImage(
  repository: Repository,
  image: SignedImage,
  key: SigningKey,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  await writeTag(repository, image, key, signal);
  await writeReferrer(repository, image, key, now, signal);
}

interface SignatureLayer {
  mediaType: string;
  digest: string;
  size: number;
  annotations: Record<string, string>;
}

/** Signatures of others stay: one more layer. */
async function writeTag(repository: Repository, { name, digest }: SignedImage, key: SigningKey, signal: AbortSignal): Promise<void> {
  const payload = simpleSigningPayload(name, digest);
  const signature = key.sign(payload).toString('base64');
  const layer: SignatureLayer = {
    mediaType: SIMPLE_SIGNING_TYPE,
    digest: await repository.pushBlob(payload, signal),
    size: payload.length,
    annotations: { [SIGNATURE_ANNOTATION]: signature },
  };
  const tag = signatureTag(digest);
  const known = await repository.manifestIfAny(tag, signal);
  const before = known === undefined ? [] : (parseJson(known.bytes, 'the manifest of the signatures').layers as SignatureLayer[]);
  const layers = [...before, layer];
  const config = Buffer.from(
    JSON.stringify({ architecture: '', os: '', config: {}, rootfs: { type: 'layers', diff_ids: layers.map((each) => each.digest) } }),
  );
  const manifest = {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: { mediaType: IMAGE_CONFIG, digest: await repository.pushBlob(config, signal), size: config.length },
    layers,
  };
  await repository.pushManifest(tag, OCI_MANIFEST, manifest, signal);
}

async function writeReferrer(
  repository: Repository,
  { digest, mediaType, size }: SignedImage,
  key: SigningKey,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  const statement = signStatement(digest);
  const bundle = bundleOf(statement, key.sign(preAuthenticationEncoding(statement)), key.hint);
  const empty = Buffer.from('{}');
  const blob = await repository.pushBlob(bundle, signal);
  const annotations = {
    'dev.sigstore.bundle.content': 'dsse-envelope',
    [PREDICATE_ANNOTATION]: SIGN_PREDICATE,
    'org.opencontainers.image.created': now.toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    artifactType: BUNDLE_TYPE,
    config: { mediaType: EMPTY_TYPE, digest: await repository.pushBlob(empty, signal), size: empty.length },
    layers: [{ mediaType: BUNDLE_TYPE, digest: blob, size: bundle.length }],
    subject: { mediaType, digest, size },
    annotations,
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  const own = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  await repository.pushManifest(own, OCI_MANIFEST, manifest, signal);
  const referrer = { mediaType: OCI_MANIFEST, digest: own, size: bytes.length, artifactType: BUNDLE_TYPE, annotations };
  await repository.pushReferrer(digest, referrer, signal);
}
