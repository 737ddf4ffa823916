import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { chainIds, parseImageConfig } from '../../../../lib/oci/image-config.ts';
import {
  choosePlatform,
  isDigest,
  ManifestError,
  parseJson,
  parseManifest,
  type Descriptor,
  type Platform,
} from '../../../../lib/oci/manifest.ts';
import type { OriginalImage } from '../../../../lib/oci/shared-images.ts';
import type { ImageRecord } from '../store/image-record.ts';
import type { LayerStacker } from '../unpack/layer-stacker.ts';

/** An image found in an archive, with the names it is to have. */
export interface ArchivedImage {
  names: string[];
  record: ImageRecord;
  /** As registries have it, while the archive is there. */
  original: OriginalImage;
}

export interface LoadOptions {
  /** The archive, unpacked; nothing in it is trusted. */
  folder: string;
  scratch: string;
  stacker: LayerStacker;
  platform: Platform;
  signal: AbortSignal;
}

interface FoundImage {
  names: string[];
  digest: string;
  /** Of this platform; absent: it has none. */
  manifest?: OriginalImage['manifest'];
  config: Buffer;
  /** Files with the layers, the lowest first. */
  layers: string[];
}

const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;
const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONTAINERD_NAME = 'io.containerd.image.name';
const REF_NAME = 'org.opencontainers.image.ref.name';

/** Loads all images of an archive in the form of an OCI layout or of `docker save`. @throws ManifestError, LayerError */
export async function loadArchive(options: LoadOptions): Promise<ArchivedImage[]> {
  const index = await documentIn(options.folder, 'index.json');
  const saved = await documentIn(options.folder, 'manifest.json');
  if (index === undefined && saved === undefined) {
    throw new ManifestError('it has neither index.json nor manifest.json; make it with `docker save`, or as an OCI layout');
  }
  const found = index === undefined ? await dockerImages(saved!, options) : await layoutImages(index, saved, options);
  const images: ArchivedImage[] = [];
  for (const image of found) {
    const record = await loadImage(image, options);
    const layers = await Promise.all(image.layers.map((path) => inside(options.folder, path)));
    images.push({ names: image.names, record, original: { manifest: image.manifest, config: image.config, layers } });
  }
  return images;
}

async function loadImage(image: FoundImage, { folder, scratch, stacker, platform, signal }: LoadOptions): Promise<ImageRecord> {
  const { config, diffIds } = parseImageConfig(image.config, platform);
  if (diffIds.length !== image.layers.length) {
    throw new ManifestError(`its manifest has ${image.layers.length} layers, its configuration ${diffIds.length}`);
  }
  // What a layer unpacks to is verified against the configuration, which is verified itself or is all there is.
  const blobs = image.layers.map((path) => () => inside(folder, path));
  await stacker.stack(diffIds, blobs, scratch, signal);
  return { format: 1, digest: image.digest, config, layers: chainIds(diffIds), access: {} };
}

/** An OCI layout. Docker writes one too since version 25, with the names beside it in its own manifest. */
async function layoutImages(index: Buffer, saved: Buffer | undefined, options: LoadOptions): Promise<FoundImage[]> {
  const entries = parseJson(index, 'index.json').manifests;
  if (!Array.isArray(entries)) throw new ManifestError('its index.json lists no manifests');
  const tags = saved === undefined ? new Map<string, string[]>() : tagsByConfig(saved);
  const images: FoundImage[] = [];
  for (const entry of entries as (Partial<Descriptor> & { annotations?: Record<string, string> })[]) {
    if (typeof entry.digest !== 'string' || !isDigest(entry.digest))
      throw new ManifestError('its index.json names a manifest by no sha256 digest');
    let bytes = await blobOf(options.folder, entry.digest);
    let document = parseManifest(bytes, entry.mediaType);
    let mediaType = entry.mediaType;
    for (let depth = 0; document.kind === 'index' && depth < 2; depth++) {
      const chosen = choosePlatform(document.manifests, options.platform);
      bytes = await blobOf(options.folder, chosen.digest);
      document = parseManifest(bytes, chosen.mediaType);
      mediaType = chosen.mediaType;
    }
    if (document.kind === 'index') throw new ManifestError('its index leads to another and another');
    const { config, layers } = document.manifest;
    images.push({
      names: [...new Set([...namesOf(entry.annotations ?? {}), ...(tags.get(config.digest) ?? [])])],
      digest: entry.digest,
      manifest: { bytes, mediaType: mediaType ?? OCI_MANIFEST },
      config: await blobOf(options.folder, config.digest),
      layers: layers.map(({ digest }) => blobPath(digest)),
    });
  }
  return images;
}

function namesOf(annotations: Record<string, unknown>): string[] {
  const full = annotations[CONTAINERD_NAME];
  if (typeof full === 'string') return [full];
  const ref = annotations[REF_NAME];
  // Often only a tag, which names nothing.
  return typeof ref === 'string' && /[:/]/.test(ref) ? [ref] : [];
}

/** What `docker save` wrote before it knew OCI: there is no manifest, so the image is known by its configuration, as in Docker. */
async function dockerImages(saved: Buffer, options: LoadOptions): Promise<FoundImage[]> {
  const images: FoundImage[] = [];
  for (const entry of savedEntries(saved)) {
    const config = await fileIn(options.folder, entry.config);
    const digest = `sha256:${createHash('sha256').update(config).digest('hex')}`;
    images.push({ names: entry.tags, digest, config, layers: entry.layers });
  }
  return images;
}

interface SavedEntry {
  config: string;
  layers: string[];
  tags: string[];
}

function savedEntries(saved: Buffer): SavedEntry[] {
  let value: unknown;
  try {
    value = JSON.parse(saved.toString('utf8'));
  } catch (cause) {
    throw new ManifestError('its manifest.json is no JSON', { cause });
  }
  if (!Array.isArray(value)) throw new ManifestError('its manifest.json is no list');
  const isText = (item: unknown) => typeof item === 'string';
  return value.map((entry: Record<string, unknown> | null) => {
    const { Config: config, Layers: layers, RepoTags: tags } = entry ?? {};
    if (typeof config !== 'string' || !Array.isArray(layers) || !layers.every(isText)) {
      throw new ManifestError('its manifest.json does not name configuration and layers');
    }
    return { config, layers: layers, tags: Array.isArray(tags) && tags.every(isText) ? tags : [] };
  });
}

/** By the digest in the path of the configuration, `blobs/sha256/<hex>`. */
function tagsByConfig(saved: Buffer): Map<string, string[]> {
  return new Map(savedEntries(saved).map(({ config, tags }) => [`sha256:${config.slice(config.lastIndexOf('/') + 1)}`, tags]));
}

function blobPath(digest: string): string {
  return `blobs/sha256/${digest.slice('sha256:'.length)}`;
}

async function blobOf(folder: string, digest: string): Promise<Buffer> {
  const bytes = await fileIn(folder, blobPath(digest));
  const actual = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (actual !== digest) throw new ManifestError(`its file ${blobPath(digest)} has the digest ${actual}; the archive is damaged`);
  return bytes;
}

async function documentIn(folder: string, name: string): Promise<Buffer | undefined> {
  return (await stat(join(folder, name)).catch(() => undefined)) === undefined ? undefined : fileIn(folder, name);
}

async function fileIn(folder: string, name: string): Promise<Buffer> {
  const path = await inside(folder, name);
  const { size } = await stat(path);
  if (size > MAX_DOCUMENT_BYTES) throw new ManifestError(`its file ${name} is larger than ${MAX_DOCUMENT_BYTES} bytes`);
  return readFile(path);
}

/** Older archives share layers by links, so links are followed, but only to files of the archive. */
async function inside(folder: string, name: string): Promise<string> {
  const root = await realpath(folder);
  const path = await realpath(join(root, name)).catch(() => undefined);
  if (path === undefined || !path.startsWith(root + sep) || !(await stat(path)).isFile()) {
    throw new ManifestError(`it names the file "${name}", which is not in it; the archive is not complete`);
  }
  return path;
}
