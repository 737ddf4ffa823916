import type { ReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../../../lib/clock.ts';
import { errorText, type Log } from '../../../../lib/log.ts';
import { Exchange } from '../../../../lib/oci/exchange.ts';
import type { ProxySettings } from '../../../../lib/oci/proxy-settings.ts';
import type { RegistryConfig } from '../../../../lib/oci/registry-config.ts';
import { RegistryError } from '../../../../lib/oci/registry-error.ts';
import { RegistrySession } from '../../../../lib/oci/registry-session.ts';
import type { SharedImages } from '../../../../lib/oci/shared-images.ts';
import { pullSources } from '../../../../lib/oci/sources.ts';
import type { BlobCache } from './blob-cache.ts';
import { imageQuestion, type ImageQuestion } from './model/image-path.ts';

export interface PullThroughOptions {
  /** The platform's; only registries that it names are asked, because whoever asks from here asks as the platform. */
  registries: RegistryConfig;
  cache: BlobCache;
  /** What the operator has given to all tenants. */
  shared: SharedImages;
  proxy: ProxySettings;
  clock: Clock;
  log: Log;
}

const TIMEOUTS = { connectMs: 10_000, idleMs: 30_000 };

/** A registry for workers that can only be read, and has what others have. What it does not have, workers get from there themselves. */
export class PullThrough {
  readonly #options: PullThroughOptions;

  constructor(options: PullThroughOptions) {
    this.#options = options;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0];
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(response, 405, 'UNSUPPORTED', 'this registry can only be read');
    if (path === '/v2/' || path === '/v2') return void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    const question = imageQuestion(path);
    if (question !== undefined && (await this.#answerShared(question, request.method === 'HEAD', response))) return;
    if (question === undefined || !Object.hasOwn(this.#options.registries.registries, question.registry)) {
      return refuse(response, 404, 'NAME_UNKNOWN', 'the platform does not have this registry');
    }
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    try {
      await this.#answer(question, request.method === 'HEAD', response, abort.signal);
    } catch (error) {
      const status = error instanceof RegistryError && error.status !== undefined ? error.status : 502;
      // Who may not have it here may have it there with a credential of his own.
      if (!response.headersSent) refuse(response, status === 401 || status === 403 ? 404 : status, 'UNKNOWN', errorText(error));
      else response.destroy();
      if (status >= 500)
        this.#options.log.warn('an image cannot be had for a worker', { registry: question.registry, error: errorText(error) });
    }
  }

  /** @returns whether it is one of those that were given to all */
  async #answerShared(
    { registry, repository, kind, reference }: ImageQuestion,
    isHead: boolean,
    response: ServerResponse,
  ): Promise<boolean> {
    const { shared, log } = this.#options;
    try {
      if (kind === 'manifests') {
        const found = await shared.manifest(`${registry}/${repository}`, reference);
        if (found !== undefined) writeManifest(response, { ...found, contentType: found.mediaType }, isHead);
        return found !== undefined;
      }
      const found = await shared.blob(reference);
      if (found === undefined) return false;
      await writeBlob(response, reference, found, isHead);
    } catch (error) {
      log.warn('an image of the platform cannot be had for a worker', { repository, error: errorText(error) });
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'UNKNOWN', 'the platform cannot read it');
    }
    return true;
  }

  async #answer(question: ImageQuestion, isHead: boolean, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { cache, clock } = this.#options;
    const digest = question.kind === 'blobs' ? question.reference : undefined;
    const known = digest === undefined ? undefined : await cache.read(digest, new Date(clock.now()));
    if (known) return writeBlob(response, digest!, known, isHead);
    await this.#asking(question, async (session) => {
      if (digest === undefined) return sendManifest(session, question.reference, isHead, response, signal);
      const { answer } = await session.blob(digest, 0, signal);
      const length = answer.headers['content-length'];
      const headers = { 'content-type': 'application/octet-stream', 'docker-content-digest': digest };
      response.writeHead(200, { ...headers, ...(length === undefined ? {} : { 'content-length': length }) });
      if (isHead) return void (answer.discard(), response.end());
      await pipeline(Readable.from(cache.keep(digest, answer.chunks), { objectMode: false }), response);
    });
  }

  /** The mirrors of a registry and then itself, as the operator named them, until one has it. */
  async #asking(question: ImageQuestion, ask: (session: RegistrySession) => Promise<void>): Promise<void> {
    const { registries, clock, proxy } = this.#options;
    const sources = pullSources({ ...question, text: question.repository, tag: 'latest' }, [], forTenants(registries));
    for (const [position, source] of sources.entries()) {
      const exchange = new Exchange({ clock, timeouts: TIMEOUTS, proxy, insecure: source.insecure, ca: source.ca });
      try {
        return await ask(new RegistrySession({ ...source, exchange }));
      } catch (error) {
        if (position === sources.length - 1) throw error;
      } finally {
        exchange.close();
      }
    }
  }
}

/** Credentials of the platform are its own, unless the operator lets tenants pull with them. */
export function forTenants({ registries }: RegistryConfig): RegistryConfig {
  const entries = Object.entries(registries).map(
    ([host, { credential, ...rest }]) => [host, rest.tenants ? { ...rest, credential } : rest] as const,
  );
  return { registries: Object.fromEntries(entries) };
}

async function sendManifest(
  session: RegistrySession,
  reference: string,
  isHead: boolean,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  writeManifest(response, await session.manifest(reference, signal), isHead);
}

function writeManifest(response: ServerResponse, found: { bytes: Buffer; contentType?: string; digest: string }, isHead: boolean): void {
  const { bytes, contentType, digest } = found;
  const headers = {
    'content-type': contentType ?? 'application/octet-stream',
    'content-length': bytes.length,
    'docker-content-digest': digest,
  };
  response.writeHead(200, headers).end(isHead ? undefined : bytes);
}

async function writeBlob(
  response: ServerResponse,
  digest: string,
  { size, stream }: { size: number; stream: ReadStream },
  isHead: boolean,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size, 'docker-content-digest': digest });
  if (isHead) return void (stream.destroy(), response.end());
  await pipeline(stream, response);
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  const body = JSON.stringify({ errors: [{ code, message }] });
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
}
