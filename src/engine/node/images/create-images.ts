import { join } from 'node:path';
import { orAborted } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import { errorText, type Log } from '../../../lib/log.ts';
import { credentialHash, credentialsFor } from '../../../lib/oci/credentials.ts';
import type { Timeouts } from '../../../lib/oci/exchange.ts';
import { imagePlatform, ManifestError, type Platform } from '../../../lib/oci/manifest.ts';
import { NO_PROXY, type ProxySettings } from '../../../lib/oci/proxy-settings.ts';
import { fullName, repositoryName, type ImageReference } from '../../../lib/oci/reference.ts';
import type { RegistryConfig } from '../../../lib/oci/registry-config.ts';
import { DEFAULT_RETRIES, type RetryPolicy } from '../../../lib/oci/retry.ts';
import type { SharedImages } from '../../../lib/oci/shared-images.ts';
import { pullSources, type PullSource } from '../../../lib/oci/sources.ts';
import { BUILT_IN_REGISTRY, builtInImage, type BuiltInImages } from './built-in.ts';
import { ImageError, type Image, type ImageRequest, type Images, type StoredImage } from './images.ts';
import { loadArchive } from './load/load-archive.ts';
import { parseReference } from './model/reference.ts';
import { pullImage, type PullOptions } from './pull/pull-image.ts';
import { SharedPulls } from './pull/shared-pulls.ts';
import { collectImages, removeImage, removeOrphans, type CollectorPorts } from './store/collector.ts';
import { ContentStore, removeFolder } from './store/content-store.ts';
import { accessOf, mayUse, withAccess, type ImageRecord } from './store/image-record.ts';
import { mountedLayers } from './store/layers-in-use.ts';
import { LayerStacker } from './unpack/layer-stacker.ts';
import { LayerError } from './unpack/layer-writer.ts';
import { createUnpacker } from './unpack/unpack-thread.ts';

export interface ImagesOptions {
  /** `<data>/node/images`. */
  dir: string;
  registries: RegistryConfig;
  builtIns: BuiltInImages;
  clock: Clock;
  log: Log;
  /** Of this machine by default. */
  platform?: Platform;
  /** 15 s to connect and 30 s without a byte by default. */
  timeouts?: Timeouts;
  retries?: RetryPolicy;
  /** None by default. */
  proxy?: ProxySettings;
  limits?: ImageLimits;
  /** Whether files keep the owners that the image says; by default as root. */
  keepOwners?: boolean;
}

export interface ImageLimits {
  /** Of one image in the registry. */
  compressedBytes: number;
  /** Of one image on disk. */
  unpackedBytes: number;
  /** Files in one layer. */
  entries: number;
}

/** The images of a node, with what only a person asks for. */
export interface NodeImages extends Images {
  /** Loads a tarball made by `docker save` or as an OCI layout. `shared`: workers of all tenants get it too. */
  load(file: string, options: { name?: string; shared?: SharedImages; signal: AbortSignal }): Promise<StoredImage[]>;
  /**
   * Takes a name away, and the image with its last name. Gives back how many bytes that freed.
   * @param inUse digests of images that containers run; what is mounted by path is seen without
   */
  remove(reference: string, inUse?: ReadonlySet<string>): Promise<number>;
  /** Removes what a crash has left. For the start of the agent. */
  cleanUp(): Promise<void>;
}

const GIB = 1024 ** 3;
const DEFAULT_LIMITS: ImageLimits = { compressedBytes: 20 * GIB, unpackedBytes: 64 * GIB, entries: 2_000_000 };
const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 15_000, idleMs: 30_000 };
const PARALLEL_UNPACKING = 2;

export function createImages(options: ImagesOptions): NodeImages {
  return new DiskImages(options);
}

class DiskImages implements NodeImages {
  readonly #options: ImagesOptions;
  readonly #store: ContentStore;
  readonly #stacker: LayerStacker;
  readonly #pulls = new SharedPulls<ImageRecord>();
  readonly #platform: Platform;
  readonly #limits: ImageLimits;
  #opened: Promise<void> | undefined;

  constructor(options: ImagesOptions) {
    this.#options = options;
    this.#platform = options.platform ?? imagePlatform(process.arch);
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#store = new ContentStore(options.dir);
    this.#stacker = new LayerStacker({
      store: this.#store,
      limits: { bytes: this.#limits.unpackedBytes, entries: this.#limits.entries },
      keepOwners: this.#keepOwners,
      parallel: PARALLEL_UNPACKING,
    });
  }

  async ensure(request: ImageRequest): Promise<Image> {
    const reference = parseReference(request.reference);
    if (reference.registry === BUILT_IN_REGISTRY) return this.#builtIn(reference, request);
    await this.#open();
    const local = request.policy === 'Always' ? undefined : await this.#local(reference, request);
    if (local === undefined && request.policy === 'Never') throw notPresent(request);
    const record = local ?? (await this.#pull(reference, request));
    await this.#store.touch(record.digest, this.#options.clock.now());
    return this.#image(reference, record);
  }

  async list(): Promise<StoredImage[]> {
    await this.#open();
    const names = await this.#store.names();
    const images = await this.#store.images();
    return Promise.all(images.map(({ record }) => this.#stored(record, names)));
  }

  async collect(inUse: ReadonlySet<string>, bytes: number): Promise<number> {
    await this.#open();
    return collectImages(this.#collectorPorts, inUse, bytes, this.#options.clock.now());
  }

  async cleanUp(): Promise<void> {
    await this.#open();
    await this.#store.removeAbandoned();
    await removeOrphans(this.#collectorPorts, this.#options.clock.now());
  }

  async load(file: string, { name, shared, signal }: Parameters<NodeImages['load']>[1]): Promise<StoredImage[]> {
    if (name !== undefined) parseReference(name);
    await this.#open();
    const scratch = await this.#store.scratch();
    try {
      const images = await this.#archived(file, scratch, signal);
      if (name !== undefined && images.length !== 1)
        throw new ManifestError(`it has ${images.length} images, one name does not fit them all`);
      const loaded: StoredImage[] = [];
      for (const { record, names: given, original } of images) {
        const names = name === undefined ? given : [name];
        loaded.push(await this.#keepLoaded(record, names));
        await shared?.add(
          names.map((text) => fullName(parseReference(text))),
          original,
        );
      }
      return loaded;
    } catch (error) {
      throw pullError(`Cannot load "${file}"`, error, signal);
    } finally {
      await removeFolder(scratch);
    }
  }

  async remove(text: string, inUse: ReadonlySet<string> = new Set()): Promise<number> {
    const reference = parseReference(text);
    await this.#open();
    const name = fullName(reference);
    const digest = reference.digest ?? (await this.#store.resolve(name));
    const record = digest === undefined ? undefined : await this.#store.image(digest);
    if (record === undefined)
      throw new Error(`Cannot remove "${text}": there is no such image here; \`tenantry image list\` shows what there is`);
    const names = (await this.#store.names()).filter((known) => known.digest === digest && known.name !== name);
    if (reference.digest === undefined && names.length > 0) {
      await this.#store.removeName(name);
      return 0;
    }
    const mounted = await mountedLayers();
    if (inUse.has(record.digest) || record.layers.some((id) => mounted.has(id.slice('sha256:'.length)))) {
      throw new Error(`Cannot remove "${text}": a container uses it; delete its Pod first`);
    }
    const others = (await this.#store.images()).map((other) => other.record).filter((other) => other.digest !== digest);
    return removeImage(this.#collectorPorts, record, others);
  }

  get #keepOwners(): boolean {
    return this.#options.keepOwners ?? process.getuid?.() === 0;
  }

  get #collectorPorts(): CollectorPorts {
    return { store: this.#store, isHeld: (chainId) => this.#stacker.isHeld(chainId), mountedLayers };
  }

  #open(): Promise<void> {
    this.#opened ??= this.#store.open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** For one that there is not, `Never` only says that it is not here; a pull says which there are. */
  #builtIn(reference: ImageReference, request: ImageRequest): Image {
    try {
      return builtInImage(reference, this.#options.builtIns);
    } catch (error) {
      throw request.policy === 'Never' ? notPresent(request) : error;
    }
  }

  /** What is here already, whole, and open to whoever asks. */
  async #local(reference: ImageReference, request: ImageRequest): Promise<ImageRecord | undefined> {
    const digest = reference.digest ?? (await this.#store.resolve(fullName(reference)));
    const record = digest === undefined ? undefined : await this.#store.image(digest);
    if (record === undefined || !this.#store.hasLayers(record.layers)) return undefined;
    const hashes = credentialsFor(repositoryName(reference), request.credentials).map((credential) => credentialHash(credential));
    return mayUse(accessOf(record, repositoryName(reference)), hashes) ? record : undefined;
  }

  #pull(reference: ImageReference, request: ImageRequest): Promise<ImageRecord> {
    const sources = pullSources(reference, request.credentials, this.#options.registries);
    const key = JSON.stringify([fullName(reference), sources.map((source) => source.credentialHash)]);
    return this.#pulls
      .run(key, request.signal, (signal) => this.#pullFrom(reference, sources, signal))
      .catch((error: unknown) => {
        throw pullError(`Cannot pull ${JSON.stringify(request.reference)}`, error, request.signal);
      });
  }

  async #pullFrom(reference: ImageReference, sources: PullSource[], signal: AbortSignal): Promise<ImageRecord> {
    const { clock, timeouts = DEFAULT_TIMEOUTS, retries = DEFAULT_RETRIES, proxy = NO_PROXY, log } = this.#options;
    const options: PullOptions = {
      store: this.#store,
      stacker: this.#stacker,
      platform: this.#platform,
      clock,
      timeouts,
      retries,
      proxy,
      maxCompressedBytes: this.#limits.compressedBytes,
    };
    const name = fullName(reference);
    const digest = reference.digest ?? (await this.#store.resolve(name));
    const wanted = {
      reference: reference.digest ?? reference.tag!,
      known: digest === undefined ? undefined : await this.#store.image(digest),
    };
    for (const [index, source] of sources.entries()) {
      try {
        const record = await pullImage(source, wanted, options, signal);
        return await this.#keep(record, [name], repositoryName(reference), source.credentialHash);
      } catch (error) {
        // Another source may have what this one has not; an image that is refused for what it is, is the same everywhere.
        if (index === sources.length - 1 || signal.aborted || error instanceof LayerError || error instanceof ManifestError) throw error;
        log.info('image not pulled from here, trying the next place', { image: name, origin: source.origin, error: errorText(error) });
      }
    }
    throw new Error('there is nowhere to pull from');
  }

  async #keep(pulled: ImageRecord, names: string[], repository: string, hash: string | undefined): Promise<ImageRecord> {
    const known = await this.#store.image(pulled.digest);
    const record = withAccess({ ...pulled, access: known?.access ?? {} }, repository, hash);
    await this.#store.putImage(record);
    // Before the record was there, another process may have taken a layer of it for nobody's.
    if (!this.#store.hasLayers(record.layers)) throw new LayerError('one was removed by somebody in the meantime; try again');
    for (const name of names) if (!name.includes('@')) await this.#store.putName(name, record.digest);
    return record;
  }

  async #archived(file: string, scratch: string, signal: AbortSignal) {
    const folder = join(scratch, 'archive');
    const limits = { bytes: this.#limits.unpackedBytes, entries: this.#limits.entries };
    const unpacker = createUnpacker();
    try {
      await orAborted(unpacker.unpack({ blob: file, target: folder, lower: [], limits, keepOwners: false }), signal);
    } catch (error) {
      // The thread takes the archive for a layer, which it is not.
      throw error instanceof LayerError ? new ManifestError(error.message, { cause: error }) : error;
    } finally {
      await unpacker.close();
    }
    return loadArchive({ folder, scratch, stacker: this.#stacker, platform: this.#platform, signal });
  }

  async #keepLoaded(loaded: ImageRecord, names: string[]): Promise<StoredImage> {
    if (names.length === 0) throw new ManifestError('it gives its image no name; say one with --name');
    for (const text of names) {
      const reference = parseReference(text);
      await this.#keep(loaded, [fullName(reference)], repositoryName(reference), undefined);
    }
    return this.#stored((await this.#store.image(loaded.digest)) ?? loaded, await this.#store.names());
  }

  async #stored(record: ImageRecord, names: readonly { name: string; digest: string }[]): Promise<StoredImage> {
    const layers = await Promise.all(record.layers.map((id) => this.#store.layer(id)));
    return {
      names: [
        ...Object.keys(record.access).map((repository) => `${repository}@${record.digest}`),
        ...names.filter(({ digest }) => digest === record.digest).map(({ name }) => name),
      ],
      digest: record.digest,
      sizeBytes: layers.reduce((sum, layer) => sum + (layer?.bytes ?? 0), 0),
    };
  }

  #image(reference: ImageReference, record: ImageRecord): Image {
    return {
      name: fullName(reference),
      id: `${repositoryName(reference)}@${record.digest}`,
      config: record.config,
      root: { layers: record.layers.map((id) => this.#store.layerPath(id)) },
    };
  }
}

function notPresent({ reference }: ImageRequest): ImageError {
  return new ImageError('ErrImageNeverPull', `Container image ${JSON.stringify(reference)} is not present with pull policy of Never`);
}

/** Complete as it is: whoever shows an error with all its causes would say everything twice, so none is attached. */
function pullError(what: string, error: unknown, signal: AbortSignal): ImageError {
  if (error instanceof ImageError) return error;
  if (signal.aborted) return new ImageError('ErrImagePull', `${what}: it was given up`);
  if (error instanceof LayerError) return new ImageError('ErrImagePull', `${what}: a layer is refused: ${error.message}`);
  const { code, message } = error as NodeJS.ErrnoException;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new ImageError('ErrImagePull', `${what}: ${full ? 'the disk is full; free some space' : message}`);
}
