import { request as httpRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as HttpsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sleep } from '../../../../lib/abort.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { ArtifactStoreError } from '../artifact-store.ts';
import { EMPTY_PAYLOAD_HASH, escaped, signedHeaders, type S3Credentials } from './signature.ts';

export interface S3ClientOptions {
  bucket: string;
  region: string;
  /** Amazon's own by default. */
  endpoint?: string;
  /** The bucket in the path instead of the host name. */
  pathStyle: boolean;
  credentials(): Promise<S3Credentials>;
  clock: Clock;
}

export interface S3Request {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD';
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** Made anew for each try. */
  body?: { open(): Readable; sizeBytes: number; sha256: string };
  text?: { value: string; sha256: string };
  signal?: AbortSignal;
}

const TRIES = 3;
const FIRST_WAIT_MS = 200;
/** Without a byte from the other side. */
const SILENCE_MS = 60_000;
/** The store may think otherwise a moment later. */
const PASSING = new Set(['RequestTimeout', 'SlowDown', 'XAmzContentSHA256Mismatch', 'BadDigest', 'OperationAborted', 'ExpiredToken']);

/** Requests to one bucket. Resolves to answers of 2xx; everything else is thrown. */
export class S3Client {
  readonly #options: S3ClientOptions;
  readonly #base: URL;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(options: S3ClientOptions) {
    this.#options = options;
    const endpoint = new URL(options.endpoint ?? `https://s3.${options.region}.amazonaws.com`);
    if (!options.pathStyle) endpoint.host = `${options.bucket}.${endpoint.host}`;
    this.#base = endpoint;
    this.#agent = endpoint.protocol === 'http:' ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true });
  }

  close(): void {
    this.#agent.destroy();
  }

  async send(request: S3Request): Promise<IncomingMessage> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.#once(request);
        if (answer.statusCode! < 300) return answer;
        throw await refusalOf(answer, this.#options.bucket);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (error instanceof ArtifactStoreError || attempt === TRIES) throw error;
        await sleep(this.#options.clock, FIRST_WAIT_MS * 2 ** attempt, request.signal);
      }
    }
  }

  async text(request: S3Request): Promise<string> {
    return textOf(await this.send(request));
  }

  /** Undefined when there is no such thing. */
  async ifThere<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof S3Refusal && error.status === 404) return undefined;
      throw error;
    }
  }

  #urlOf({ key = '', query = {} }: S3Request): URL {
    const prefix = this.#base.pathname.replace(/\/$/, '');
    const segments = [...(this.#options.pathStyle ? [this.#options.bucket] : []), ...(key === '' ? [] : key.split('/'))];
    const url = new URL(this.#base);
    url.pathname = `${prefix}/${segments.map(escaped).join('/')}`;
    url.search = Object.entries(query)
      .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
      .join('&');
    return url;
  }

  async #once(request: S3Request): Promise<IncomingMessage> {
    const { method, body, text, signal } = request;
    const url = this.#urlOf(request);
    const size = body?.sizeBytes ?? (text === undefined ? undefined : Buffer.byteLength(text.value));
    const headers = { ...request.headers, ...(size === undefined ? {} : { 'content-length': String(size) }) };
    const payloadHash = body?.sha256 ?? text?.sha256 ?? EMPTY_PAYLOAD_HASH;
    const credentials = await this.#options.credentials();
    const now = new Date(this.#options.clock.now());
    const signed = signedHeaders({ method, url, headers, payloadHash }, credentials, this.#options.region, now);
    return new Promise((resolve, reject) => {
      const open = url.protocol === 'http:' ? httpRequest : httpsRequest;
      const outgoing = open(url, { method, headers: signed, agent: this.#agent, signal, timeout: SILENCE_MS }, resolve);
      outgoing.on('error', reject);
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer from ${url.host} for ${SILENCE_MS} ms`)));
      if (body === undefined) outgoing.end(text?.value);
      // An early answer closes the pipe before all was sent: the answer is what counts.
      else pipeline(body.open(), outgoing).catch(reject);
    });
  }
}

/** A refusal that asking again does not change. */
export class S3Refusal extends ArtifactStoreError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function refusalOf(answer: IncomingMessage, bucket: string): Promise<Error> {
  const text = await textOf(answer);
  const code = /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? '';
  const said = /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? '';
  const status = answer.statusCode!;
  const message = `bucket "${bucket}": ${[code || `status ${status}`, said].filter((part) => part !== '').join(': ')}`;
  const passes = status >= 500 || status === 408 || status === 429 || PASSING.has(code);
  return passes ? new Error(message) : new S3Refusal(status, message);
}

const MOST_TEXT = 8 << 20;

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += (chunk as Buffer).length;
    if (size > MOST_TEXT) throw new Error(`an answer of the store has more than ${MOST_TEXT} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
