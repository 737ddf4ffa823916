import { BUNDLE_TYPE } from '../../../lib/cosign/bundle.ts';
import { SIGNATURE_ANNOTATION, SIMPLE_SIGNING_TYPE, signatureTag } from '../../../lib/cosign/simple-signing.ts';
import type { RegistryCredential } from '../../../lib/oci/credentials.ts';
import { parseImageConfig } from '../../../lib/oci/image-config.ts';
import { ManifestError, parseJson, parseManifest, type PlatformDescriptor } from '../../../lib/oci/manifest.ts';
import { repositoryName } from '../../../lib/oci/reference.ts';
import { RegistryError } from '../../../lib/oci/registry-error.ts';
import { imageReference, Repository, type RegistryAccess } from '../../../lib/oci/repository.ts';
import type { Candidate } from './judge-signatures.ts';

/** Which user an image runs as, on one platform. */
export interface ImageUser {
  /** Empty for an image of one platform. */
  platform: string;
  user: string;
}

/** What the area asks of registries. */
export interface ImageRegistry {
  /** `<repository>@sha256:...` of what a tag or digest means now. */
  resolve(image: string, credentials: readonly RegistryCredential[], signal: AbortSignal): Promise<string>;
  /** Everything in the registry that may be a signature of an image, given by digest. */
  candidates(image: string, credentials: readonly RegistryCredential[], signal: AbortSignal): Promise<Candidate[]>;
  users(image: string, credentials: readonly RegistryCredential[], signal: AbortSignal): Promise<ImageUser[]>;
}

/** More signatures than anybody makes of one image; whoever may push to a repository must not make verification endless. */
const MAX_CANDIDATES = 50;
const MAX_PAYLOAD_BYTES = 64 * 1024;
const MAX_BUNDLE_BYTES = 4 * 1024 * 1024;
const MAX_CONFIG_BYTES = 8 * 1024 * 1024;
const MAX_PLATFORMS = 30;

/** Asks real registries. Nothing is kept between two questions: what a registry said once is in the PluginVersion. */
export function imageRegistry(access: RegistryAccess): ImageRegistry {
  async function within<T>(
    image: string,
    credentials: readonly RegistryCredential[],
    work: (repository: Repository, digest: string) => Promise<T>,
  ): Promise<T> {
    const reference = imageReference(image);
    const repository = new Repository(reference, credentials, access);
    try {
      return await work(repository, reference.digest ?? '');
    } finally {
      repository.close();
    }
  }
  return {
    resolve: (image, credentials, signal) =>
      within(image, credentials, async (repository) => {
        const reference = imageReference(image);
        const manifest = await repository.manifest(reference.digest ?? reference.tag!, signal);
        // Refuses what is no image at all.
        parseManifest(manifest.bytes, manifest.contentType);
        return `${repositoryName(reference)}@${manifest.digest}`;
      }),
    candidates: (image, credentials, signal) =>
      within(image, credentials, async (repository, digest) => [
        ...(await tagCandidates(repository, digest, signal)),
        ...(await bundleCandidates(repository, digest, signal)),
      ]),
    users: (image, credentials, signal) => within(image, credentials, (repository, digest) => usersOf(repository, digest, signal)),
  };
}

async function tagCandidates(repository: Repository, digest: string, signal: AbortSignal): Promise<Candidate[]> {
  const found = await repository.manifestIfAny(signatureTag(digest), signal);
  if (found === undefined) return [];
  const candidates: Candidate[] = [];
  for (const { mediaType, digest: blob, annotations } of layersIn(found.bytes)) {
    const signature = annotations?.[SIGNATURE_ANNOTATION];
    if (mediaType !== SIMPLE_SIGNING_TYPE || typeof signature !== 'string' || candidates.length >= MAX_CANDIDATES) continue;
    const payload = await unlessBroken(() => repository.blob(blob, MAX_PAYLOAD_BYTES, signal));
    if (payload) candidates.push({ form: 'tag', payload, signature: Buffer.from(signature, 'base64') });
  }
  return candidates;
}

async function bundleCandidates(repository: Repository, digest: string, signal: AbortSignal): Promise<Candidate[]> {
  const referrers = await repository.referrers(digest, signal);
  const candidates: Candidate[] = [];
  for (const { artifactType, digest: manifest } of referrers) {
    if (artifactType !== BUNDLE_TYPE || candidates.length >= MAX_CANDIDATES) continue;
    const bundle = await unlessBroken(async () => {
      const [layer, ...more] = layersIn((await repository.manifest(manifest, signal)).bytes);
      const isBundle = layer?.mediaType === BUNDLE_TYPE && more.length === 0;
      return isBundle ? repository.blob(layer.digest, MAX_BUNDLE_BYTES, signal) : undefined;
    });
    if (bundle) candidates.push({ form: 'bundle', bundle });
  }
  return candidates;
}

/** One that is broken must not stand in the way of others: whoever may push to a repository could keep a plugin from being verified. */
async function unlessBroken<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const isContent = error instanceof RegistryError && error.retry === 'no' && error.cause === undefined;
    if (error instanceof ManifestError || (isContent && (error.status === undefined || error.status === 404))) return undefined;
    throw error;
  }
}

interface Layer {
  mediaType: string;
  digest: string;
  annotations?: Record<string, unknown>;
}

/** The layers of an artifact, which are not those of an image. */
function layersIn(manifest: Buffer): Layer[] {
  const { layers } = parseJson(manifest, 'the manifest of a signature');
  if (!Array.isArray(layers)) return [];
  return layers.filter(
    (layer: Partial<Layer> | null): layer is Layer => typeof layer?.mediaType === 'string' && typeof layer.digest === 'string',
  );
}

async function usersOf(repository: Repository, digest: string, signal: AbortSignal): Promise<ImageUser[]> {
  const top = await repository.manifest(digest, signal);
  const document = parseManifest(top.bytes, top.contentType);
  if (document.kind === 'manifest') return [await userOf(repository, document.manifest.config.digest, '', signal)];
  // Attestations of build tools stand in an index as images for a platform of no name.
  const images = document.manifests.filter(({ platform }) => platform?.os !== 'unknown').slice(0, MAX_PLATFORMS + 1);
  if (images.length > MAX_PLATFORMS) throw new ManifestError(`its index is for more than ${MAX_PLATFORMS} platforms`);
  const users: ImageUser[] = [];
  for (const image of images) {
    const inner = parseManifest((await repository.manifest(image.digest, signal)).bytes, image.mediaType);
    if (inner.kind === 'index') throw new ManifestError('its index leads to another index');
    users.push(await userOf(repository, inner.manifest.config.digest, platformName(image), signal));
  }
  if (users.length === 0) throw new ManifestError('its index is for no platform');
  return users;
}

async function userOf(repository: Repository, config: string, platform: string, signal: AbortSignal): Promise<ImageUser> {
  const bytes = await repository.blob(config, MAX_CONFIG_BYTES, signal);
  const { os = '', architecture = '' } = parseJson(bytes, 'its configuration') as { os?: string; architecture?: string };
  return { platform, user: parseImageConfig(bytes, { os, architecture }).config.user };
}

function platformName({ platform }: PlatformDescriptor): string {
  return [platform?.os, platform?.architecture, platform?.variant].filter(Boolean).join('/');
}
