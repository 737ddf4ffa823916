/** What a manifest points to. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

export interface PlatformDescriptor extends Descriptor {
  platform?: { os?: string; architecture?: string; variant?: string };
}

export interface Manifest {
  config: Descriptor;
  /** The lowest first. */
  layers: Descriptor[];
}

export type ManifestDocument = { kind: 'manifest'; manifest: Manifest } | { kind: 'index'; manifests: PlatformDescriptor[] };

export interface Platform {
  os: string;
  /** As Go spells it: `amd64`, `arm64`. */
  architecture: string;
}

export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';
export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const DOCKER_LIST = 'application/vnd.docker.distribution.manifest.list.v2+json';
const DOCKER_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
/** What a registry is asked for. */
export const MANIFEST_TYPES = [OCI_INDEX, OCI_MANIFEST, DOCKER_LIST, DOCKER_MANIFEST];

const CONFIG_TYPES = ['application/vnd.oci.image.config.v1+json', 'application/vnd.docker.container.image.v1+json'];
const LAYER_TYPE =
  /^application\/vnd\.(?:oci\.image\.layer(?:\.nondistributable)?\.v1\.tar(?:\+gzip|\+zstd)?|docker\.image\.rootfs(?:\.foreign)?\.diff\.tar(?:\.gzip|\.zstd)?)$/;
/** The kernel stacks no more lower folders than this in one overlay. */
const MAX_LAYERS = 500;
const MAX_INDEX_ENTRIES = 1000;
const DIGEST = /^sha256:[a-f0-9]{64}$/;

/** A document of a registry or archive that is not what it should be. The message completes "Cannot pull X: ". */
export class ManifestError extends Error {}

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** @param contentType as the registry said; the document's own word counts more. @throws ManifestError */
export function parseManifest(bytes: Uint8Array, contentType: string | undefined): ManifestDocument {
  const value = parseJson(bytes, 'its manifest');
  const said = typeof value.mediaType === 'string' ? value.mediaType : contentType?.split(';', 1)[0]!.trim();
  if (value.schemaVersion === 1) {
    throw new ManifestError('its manifest has the form of 2015 (schema version 1), which nothing supports any more; push the image again');
  }
  // One document with two meanings: which one counts would depend on who reads it.
  if (value.manifests !== undefined && (value.layers !== undefined || value.config !== undefined)) {
    throw new ManifestError('its manifest is an index and an image at once');
  }
  if (said === OCI_INDEX || said === DOCKER_LIST || value.manifests !== undefined) {
    if (!Array.isArray(value.manifests)) throw new ManifestError('its index lists no manifests');
    if (value.manifests.length > MAX_INDEX_ENTRIES) throw new ManifestError(`its index has over ${MAX_INDEX_ENTRIES} entries`);
    return { kind: 'index', manifests: value.manifests.map((entry) => platformDescriptor(entry)) };
  }
  const config = descriptor(value.config, 'config');
  if (!CONFIG_TYPES.includes(config.mediaType)) {
    throw new ManifestError(`it is no container image but an artifact of type "${config.mediaType}"`);
  }
  if (!Array.isArray(value.layers)) throw new ManifestError('its manifest lists no layers');
  if (value.layers.length > MAX_LAYERS) throw new ManifestError(`it has ${value.layers.length} layers; ${MAX_LAYERS} is the most`);
  return { kind: 'manifest', manifest: { config, layers: value.layers.map((layer) => layerDescriptor(layer)) } };
}

/** The manifest for this machine. The variant is not asked for: an index lists the best one of an architecture first. */
export function choosePlatform(manifests: readonly PlatformDescriptor[], wanted: Platform): PlatformDescriptor {
  const fitting = manifests.find(({ platform }) => platform?.os === wanted.os && platform.architecture === wanted.architecture);
  // An index of one that says nothing of platforms: the configuration says more, and is checked.
  const only = manifests.length === 1 && manifests[0].platform === undefined ? manifests[0] : undefined;
  const chosen = fitting ?? only;
  if (chosen !== undefined) return chosen;
  const there = manifests.flatMap(({ platform }) => (platform?.os && platform.os !== 'unknown' ? [platformName(platform)] : []));
  throw new ManifestError(
    `there is none for ${wanted.os}/${wanted.architecture}, only for ${[...new Set(there)].join(', ') || 'unknown platforms'}; choose an image built for this machine`,
  );
}

export function parseJson(bytes: Uint8Array, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (cause) {
    throw new ManifestError(`${what} is no JSON`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ManifestError(`${what} is no JSON object`);
  return value as Record<string, unknown>;
}

/** Node's names of architectures to those of images. */
export function imagePlatform(arch: string): Platform {
  const names: Record<string, string> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };
  return { os: 'linux', architecture: names[arch] ?? arch };
}

function platformName(platform: { os?: string; architecture?: string; variant?: string }): string {
  return [platform.os, platform.architecture, platform.variant].filter(Boolean).join('/');
}

function descriptor(value: unknown, what: string): Descriptor {
  const { mediaType, digest, size } = (value ?? {}) as Record<string, unknown>;
  if (typeof mediaType !== 'string' || typeof digest !== 'string' || !Number.isSafeInteger(size) || (size as number) < 0) {
    throw new ManifestError(`its manifest does not say type, digest and size of ${what === 'config' ? 'the configuration' : `a ${what}`}`);
  }
  if (!DIGEST.test(digest)) throw new ManifestError(`its manifest names a ${what} by "${digest.slice(0, 100)}", which is no sha256 digest`);
  return { mediaType, digest, size: size as number };
}

function layerDescriptor(value: unknown): Descriptor {
  const layer = descriptor(value, 'layer');
  if (!LAYER_TYPE.test(layer.mediaType)) throw new ManifestError(`it has a layer of the unknown type "${layer.mediaType.slice(0, 100)}"`);
  return layer;
}

function platformDescriptor(value: unknown): PlatformDescriptor {
  const found = descriptor(value, 'manifest');
  const platform = (value as { platform?: PlatformDescriptor['platform'] }).platform;
  return typeof platform === 'object' && platform !== null ? { ...found, platform } : found;
}
