import type { Clock } from '../clock.ts';
import type { RegistryCredential } from './credentials.ts';
import { Exchange, type Timeouts } from './exchange.ts';
import { OCI_INDEX, parseJson, type Descriptor } from './manifest.ts';
import type { ProxySettings } from './proxy-settings.ts';
import { readReference, type ImageReference } from './reference.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryConfig } from './registry-config.ts';
import { RegistrySession, type FetchedManifest } from './registry-session.ts';
import { DEFAULT_RETRIES, retrying, type RetryPolicy } from './retry.ts';
import { pullSources } from './sources.ts';

/** How registries are reached. */
export interface RegistryAccess {
  clock: Clock;
  registries: RegistryConfig;
  proxy: ProxySettings;
  timeouts?: Timeouts;
  retries?: RetryPolicy;
}

/** Something that refers to a manifest: a signature, an attestation. */
export interface Referrer extends Descriptor {
  artifactType: string;
  annotations: Record<string, string>;
}

const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 15_000, idleMs: 30_000 };
const MAX_REFERRERS = 1000;

/** @throws RegistryError for a name that is none */
export function imageReference(image: string): ImageReference {
  const reference = readReference(image);
  if (typeof reference === 'string') throw new RegistryError(`"${image.slice(0, 200)}" is no image: ${reference}`);
  return reference;
}

/**
 * One repository of a registry, its documents and small blobs. Reads ask the mirrors first; what they do not have, the registry itself.
 * Everything read by digest is verified. Writes go to the registry alone.
 */
export class Repository {
  readonly #access: RegistryAccess;
  readonly #sources: { exchange: Exchange; session: RegistrySession }[];

  constructor(reference: ImageReference, credentials: readonly RegistryCredential[], access: RegistryAccess) {
    this.#access = access;
    const { clock, proxy, timeouts = DEFAULT_TIMEOUTS } = access;
    this.#sources = pullSources(reference, credentials, access.registries).map((source) => {
      const exchange = new Exchange({ clock, timeouts, proxy, insecure: source.insecure, ca: source.ca });
      return { exchange, session: new RegistrySession({ ...source, exchange }) };
    });
  }

  close(): void {
    for (const { exchange } of this.#sources) exchange.close();
  }

  /** @param reference a tag or digest */
  manifest(reference: string, signal: AbortSignal): Promise<FetchedManifest> {
    return this.#read((session) => session.manifest(reference, signal), signal);
  }

  /** The manifest at a tag that may not be there. */
  async manifestIfAny(reference: string, signal: AbortSignal): Promise<FetchedManifest | undefined> {
    try {
      return await this.manifest(reference, signal);
    } catch (error) {
      if (error instanceof RegistryError && error.status === 404) return undefined;
      throw error;
    }
  }

  blob(digest: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
    return this.#read((session) => session.smallBlob(digest, maxBytes, signal), signal);
  }

  /** What refers to a manifest, by the registry's own list or, where it has none, by the tag that stands for it. */
  async referrers(digest: string, signal: AbortSignal): Promise<Referrer[]> {
    const listed = await this.#read((session) => session.referrers(digest, signal), signal);
    const index = listed ?? (await this.manifestIfAny(fallbackTag(digest), signal))?.bytes;
    return index === undefined ? [] : referrersIn(index);
  }

  pushBlob(bytes: Buffer, signal: AbortSignal): Promise<string> {
    return this.#write((session) => session.pushBlob(bytes, signal), signal);
  }

  pushManifest(reference: string, mediaType: string, value: object, signal: AbortSignal): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(value));
    return this.#write((session) => session.pushManifest(reference, mediaType, bytes, signal), signal);
  }

  /** Makes a manifest with a `subject` known as a referrer of it, also where the registry keeps no list: then clients keep it in a tag. */
  async pushReferrer(subject: string, referrer: Referrer, signal: AbortSignal): Promise<void> {
    const listed = await this.#write((session) => session.referrers(subject, signal), signal);
    if (listed !== undefined) return;
    const tag = fallbackTag(subject);
    const known = await this.manifestIfAny(tag, signal);
    const others = (known === undefined ? [] : referrersIn(known.bytes)).filter(({ digest }) => digest !== referrer.digest);
    const index = { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [...others, referrer] };
    await this.pushManifest(tag, OCI_INDEX, index, signal);
  }

  async #read<T>(work: (session: RegistrySession) => Promise<T>, signal: AbortSignal): Promise<T> {
    let failure: unknown;
    for (const { session } of this.#sources) {
      try {
        return await this.#retrying(() => work(session), signal);
      } catch (error) {
        if (signal.aborted) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #write<T>(work: (session: RegistrySession) => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#retrying(() => work(this.#sources.at(-1)!.session), signal);
  }

  #retrying<T>(once: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return retrying(once, () => false, this.#access.retries ?? DEFAULT_RETRIES, this.#access.clock, signal);
  }
}

function fallbackTag(digest: string): string {
  return digest.replace(':', '-');
}

function referrersIn(index: Buffer): Referrer[] {
  const { manifests } = parseJson(index, 'the list of referrers');
  if (!Array.isArray(manifests)) return [];
  return manifests.slice(0, MAX_REFERRERS).flatMap((entry: unknown): Referrer[] => {
    const { mediaType, digest, size, artifactType, annotations } = (entry ?? {}) as Record<string, unknown>;
    if (typeof mediaType !== 'string' || typeof digest !== 'string' || typeof size !== 'number') return [];
    return [
      { mediaType, digest, size, artifactType: typeof artifactType === 'string' ? artifactType : '', annotations: texts(annotations) },
    ];
  });
}

function texts(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
