import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { linkSignals } from '../../../../lib/abort.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { chainIds, parseImageConfig } from '../../../../lib/oci/image-config.ts';
import {
  choosePlatform,
  ManifestError,
  parseManifest,
  type Descriptor,
  type Manifest,
  type Platform,
} from '../../../../lib/oci/manifest.ts';
import type { ProxySettings } from '../../../../lib/oci/proxy-settings.ts';
import { downloadBlob } from './blob-download.ts';
import { Exchange, type Timeouts } from '../../../../lib/oci/exchange.ts';
import { RegistryError } from '../../../../lib/oci/registry-error.ts';
import { RegistrySession, type FetchedManifest } from '../../../../lib/oci/registry-session.ts';
import { retrying, type RetryPolicy } from '../../../../lib/oci/retry.ts';
import { removeFolder, type ContentStore } from '../store/content-store.ts';
import type { ImageRecord } from '../store/image-record.ts';
import type { LayerStacker } from '../unpack/layer-stacker.ts';
import type { PullSource } from '../../../../lib/oci/sources.ts';

export interface PullOptions {
  store: ContentStore;
  stacker: LayerStacker;
  platform: Platform;
  clock: Clock;
  timeouts: Timeouts;
  proxy: ProxySettings;
  retries: RetryPolicy;
  maxCompressedBytes: number;
}

const MAX_CONFIG_BYTES = 8 * 1024 * 1024;
const PARALLEL_DOWNLOADS = 3;

export interface WantedImage {
  /** A tag or a digest. */
  reference: string;
  /** What this node has by that name. */
  known?: ImageRecord;
}

/** Pulls what a tag or digest means at one source. Only what is missing is fetched. The record is not stored yet. */
export async function pullImage(source: PullSource, wanted: WantedImage, options: PullOptions, signal: AbortSignal): Promise<ImageRecord> {
  const { clock, timeouts, proxy } = options;
  const exchange = new Exchange({ clock, timeouts, proxy, insecure: source.insecure, ca: source.ca });
  try {
    const session = new RegistrySession({ ...source, exchange });
    return (await unchanged(session, wanted, options, signal)) ?? (await pullWith(session, wanted.reference, options, signal));
  } finally {
    exchange.close();
  }
}

/** What is here, if the registry says that it still is what the name means, and we may have it. */
async function unchanged(
  session: RegistrySession,
  { reference, known }: WantedImage,
  options: PullOptions,
  signal: AbortSignal,
): Promise<ImageRecord | undefined> {
  if (known === undefined || !options.store.hasLayers(known.layers)) return undefined;
  const digest = await retrying(
    () => session.digestOf(reference, signal),
    () => false,
    options.retries,
    options.clock,
    signal,
  );
  return digest === known.digest ? known : undefined;
}

async function pullWith(session: RegistrySession, reference: string, options: PullOptions, signal: AbortSignal): Promise<ImageRecord> {
  const fetch = (wanted: string) =>
    retrying(
      () => session.manifest(wanted, signal),
      () => false,
      options.retries,
      options.clock,
      signal,
    );
  const top = await fetch(reference);
  const known = await options.store.image(top.digest);
  if (known !== undefined && options.store.hasLayers(known.layers)) return known;
  const manifest = await platformManifest(top, fetch, options.platform);
  checkSizes(manifest, options.maxCompressedBytes);
  const scratch = await options.store.scratch();
  try {
    const download = (blob: Descriptor, path: string, until: AbortSignal) =>
      downloadBlob(blob, path, { session, clock: options.clock, retries: options.retries, signal: until });
    const configPath = join(scratch, 'config');
    await download(manifest.config, configPath, signal);
    const { config, diffIds } = parseImageConfig(await readFile(configPath), options.platform);
    if (diffIds.length !== manifest.layers.length) {
      throw new ManifestError(`its manifest has ${manifest.layers.length} layers, its configuration ${diffIds.length}`);
    }
    await pullLayers(manifest.layers, diffIds, scratch, download, options, signal);
    return { format: 1, digest: top.digest, config, layers: chainIds(diffIds), access: {} };
  } finally {
    await removeFolder(scratch);
  }
}

async function platformManifest(
  top: FetchedManifest,
  fetch: (digest: string) => Promise<FetchedManifest>,
  platform: Platform,
): Promise<Manifest> {
  let document = parseManifest(top.bytes, top.contentType);
  // An index of indexes is allowed, and nobody nests deeper.
  for (let depth = 0; document.kind === 'index' && depth < 2; depth++) {
    const chosen = choosePlatform(document.manifests, platform);
    document = parseManifest((await fetch(chosen.digest)).bytes, chosen.mediaType);
  }
  if (document.kind === 'index') throw new ManifestError('its index leads to another and another');
  return document.manifest;
}

function checkSizes(manifest: Manifest, maxBytes: number): void {
  if (manifest.config.size > MAX_CONFIG_BYTES) throw new ManifestError(`its configuration is larger than ${MAX_CONFIG_BYTES} bytes`);
  const total = manifest.layers.reduce((sum, { size }) => sum + size, 0);
  if (total > maxBytes) throw new ManifestError(`it is ${total} bytes large; ${maxBytes} is the most this node takes`);
}

/** Downloads run ahead of the unpacking, which goes layer by layer from the lowest. */
async function pullLayers(
  layers: readonly Descriptor[],
  diffIds: readonly string[],
  scratch: string,
  download: (blob: Descriptor, path: string, until: AbortSignal) => Promise<void>,
  options: PullOptions,
  signal: AbortSignal,
): Promise<void> {
  const chain = chainIds(diffIds);
  const missing = chain.findIndex((id) => !options.store.hasLayers([id]));
  if (missing === -1) return;
  const linked = linkSignals(signal);
  const wanted = new Map(layers.slice(missing).map((layer) => [layer.digest, layer]));
  const paths = new Map<string, Promise<string>>();
  const turns = Array.from({ length: PARALLEL_DOWNLOADS }, () => Promise.resolve());
  for (const [index, [digest, layer]] of [...wanted].entries()) {
    const path = join(scratch, digest.slice('sha256:'.length));
    const turn = index % PARALLEL_DOWNLOADS;
    const done = turns[turn].then(() => download(layer, path, linked.signal)).then(() => path);
    // One that fails ends the others; whoever waits for it hears of it below.
    turns[turn] = done.then(
      () => {},
      (error: unknown) => linked.abort(error),
    );
    paths.set(digest, done);
  }
  try {
    const blobs = layers.map((layer) => () => paths.get(layer.digest)!);
    await options.stacker.stack(diffIds, blobs, scratch, linked.signal);
  } finally {
    linked.abort(new RegistryError('it was given up'));
    await Promise.allSettled(paths.values());
    await Promise.all(turns);
  }
}
