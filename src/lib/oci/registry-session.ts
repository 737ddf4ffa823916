import { createHash } from 'node:crypto';
import { parseChallenges } from './challenge.ts';
import type { RegistryCredential } from './credentials.ts';
import { readAll, type Answer, type Exchange, type Sent } from './exchange.ts';
import { MANIFEST_TYPES, OCI_INDEX } from './manifest.ts';
import { RegistryError, statusError } from './registry-error.ts';

export interface FetchedManifest {
  bytes: Buffer;
  contentType: string | undefined;
  digest: string;
}

export interface SessionOptions {
  exchange: Exchange;
  /** `https://registry.example:5000`. */
  origin: string;
  repository: string;
  credential?: RegistryCredential;
}

const DIGEST_ALGORITHMS = new Set(['sha256', 'sha384', 'sha512']);
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
const MAX_TOKEN_BYTES = 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;

/** Asks one registry for one repository, as one user: the OCI distribution protocol. */
export class RegistrySession {
  readonly #options: SessionOptions;
  readonly #host: string;
  #authorization: string | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#host = new URL(options.origin).host;
  }

  get host(): string {
    return this.#host;
  }

  /** @param reference a tag or a digest; a digest is verified, here and wherever the registry itself says one */
  async manifest(reference: string, signal: AbortSignal): Promise<FetchedManifest> {
    const answer = await this.#get(`manifests/${reference}`, { accept: MANIFEST_TYPES.join(', ') }, signal);
    const bytes = await readAll(answer, this.#host, MAX_MANIFEST_BYTES, 'the manifest');
    const promised = reference.includes(':') ? reference : answer.headers['docker-content-digest'];
    if (typeof promised === 'string') this.#verify(bytes, promised);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    return { bytes, contentType: answer.headers['content-type'], digest };
  }

  #verify(bytes: Buffer, promised: string, what = 'manifest'): void {
    const algorithm = promised.slice(0, promised.indexOf(':'));
    if (!DIGEST_ALGORITHMS.has(algorithm))
      throw new RegistryError(`${this.#host} names a ${what} by a digest of the unknown kind "${algorithm}"`);
    const digest = `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
    if (digest === promised) return;
    throw new RegistryError(
      `${this.#host} sent a ${what} with the digest ${digest} instead of ${promised}; it was changed on its way or in the registry`,
    );
  }

  /** What a tag or digest means at this moment, without fetching it: registries that count pulls do not count this. */
  async digestOf(reference: string, signal: AbortSignal): Promise<string | undefined> {
    const answer = await this.#get(`manifests/${reference}`, { accept: MANIFEST_TYPES.join(', ') }, signal, 'HEAD');
    answer.discard();
    const digest = answer.headers['docker-content-digest'];
    return typeof digest === 'string' ? digest : undefined;
  }

  /** The content of a blob from an offset on. `resumed` is false when the registry starts from the beginning all the same. */
  async blob(digest: string, offset: number, signal: AbortSignal): Promise<{ answer: Answer; resumed: boolean }> {
    const answer = await this.#get(`blobs/${digest}`, offset === 0 ? {} : { range: `bytes=${offset}-` }, signal);
    const resumed = answer.status === 206 && (answer.headers['content-range'] ?? '').startsWith(`bytes ${offset}-`);
    if (answer.status === 206 && !resumed) {
      answer.discard();
      throw new RegistryError(`${this.#host} sent another part of a layer than was asked for`);
    }
    return { answer, resumed };
  }

  /** The list of what refers to a manifest; undefined where the registry has no such list. */
  async referrers(digest: string, signal: AbortSignal): Promise<Buffer | undefined> {
    try {
      const answer = await this.#get(`referrers/${digest}`, { accept: OCI_INDEX }, signal);
      // Some answer every unknown path with a page of theirs.
      if (!(answer.headers['content-type'] ?? '').startsWith(OCI_INDEX)) {
        answer.discard();
        return undefined;
      }
      return await readAll(answer, this.#host, MAX_MANIFEST_BYTES, 'the list of referrers');
    } catch (error) {
      if (error instanceof RegistryError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** A blob of bounded size, verified. */
  async smallBlob(digest: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
    const { answer } = await this.blob(digest, 0, signal);
    const bytes = await readAll(answer, this.#host, maxBytes, 'a blob');
    this.#verify(bytes, digest, 'blob');
    return bytes;
  }

  /** Stores a blob in one piece, unless it is there. */
  async pushBlob(bytes: Buffer, signal: AbortSignal): Promise<string> {
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const known = await this.#send(this.#url(`blobs/${digest}`), {}, signal, { method: 'HEAD' });
    known.discard();
    if (known.status === 200) return digest;
    const opened = await this.#accepted(this.#url('blobs/uploads/'), { 'content-length': '0' }, signal, { method: 'POST' });
    const { location } = opened.headers;
    if (location === undefined) throw new RegistryError(`${this.#host} does not say where to upload to`);
    const target = new URL(location, this.#options.origin);
    target.searchParams.set('digest', digest);
    const headers = { 'content-type': 'application/octet-stream', 'content-length': String(bytes.length) };
    await this.#accepted(target, headers, signal, { method: 'PUT', body: bytes });
    return digest;
  }

  /** @param reference a tag, or the digest of the bytes */
  async pushManifest(reference: string, mediaType: string, bytes: Buffer, signal: AbortSignal): Promise<void> {
    const headers = { 'content-type': mediaType, 'content-length': String(bytes.length) };
    await this.#accepted(this.#url(`manifests/${reference}`), headers, signal, { method: 'PUT', body: bytes });
  }

  #url(path: string): URL {
    return new URL(`/v2/${this.#options.repository}/${path}`, this.#options.origin);
  }

  async #get(path: string, headers: Record<string, string>, signal: AbortSignal, method: 'GET' | 'HEAD' = 'GET'): Promise<Answer> {
    const answer = await this.#send(this.#url(path), headers, signal, { method });
    if (answer.status === 200 || answer.status === 206) return answer;
    throw await this.#refusal(answer, this.#host);
  }

  async #accepted(url: URL, headers: Record<string, string>, signal: AbortSignal, what: Sent): Promise<Answer> {
    const answer = await this.#send(url, headers, signal, what);
    if (answer.status < 200 || answer.status >= 300) throw await this.#refusal(answer, url.host);
    answer.discard();
    return answer;
  }

  async #send(url: URL, headers: Record<string, string>, signal: AbortSignal, what: Sent): Promise<Answer> {
    const { exchange, origin } = this.#options;
    // An upload may be sent elsewhere: what the registry knows us by is not for others.
    const isOwn = url.origin === new URL(origin).origin;
    const send = () =>
      exchange.send(url, this.#authorization && isOwn ? { ...headers, authorization: this.#authorization } : headers, signal, what);
    const answer = await send();
    return answer.status === 401 && isOwn && (await this.#authorize(answer, signal)) ? send() : answer;
  }

  /** Does what the registry's challenge asks for. False when there is nothing more to try: then the answer is still to be read. */
  async #authorize(answer: Answer, signal: AbortSignal): Promise<boolean> {
    const challenges = parseChallenges(answer.headers['www-authenticate'] ?? '');
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    const basic = challenges.some(({ scheme }) => scheme === 'basic');
    const { credential } = this.#options;
    if (bearer !== undefined) {
      answer.discard();
      this.#authorization = `Bearer ${await this.#token(bearer.parameters, signal)}`;
      return true;
    }
    if (!basic || credential === undefined || this.#authorization !== undefined) return false;
    answer.discard();
    this.#authorization = basicAuthorization(credential);
    return true;
  }

  async #token(parameters: ReadonlyMap<string, string>, signal: AbortSignal): Promise<string> {
    const { credential, exchange, repository } = this.#options;
    const url = realmUrl(this.#host, parameters.get('realm'));
    const service = parameters.get('service');
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', parameters.get('scope') ?? `repository:${repository}:pull`);
    const answer = await exchange.send(url, credential ? { authorization: basicAuthorization(credential) } : {}, signal);
    if (answer.status !== 200) throw await this.#refusal(answer, url.host);
    const bytes = await readAll(answer, url.host, MAX_TOKEN_BYTES, 'the token');
    const token = tokenOf(bytes);
    if (token === undefined) throw new RegistryError(`${url.host} answered without a token`);
    return token;
  }

  async #refusal(answer: Answer, host: string): Promise<RegistryError> {
    // What it says beside the number is a help, not worth failing for.
    const body = await readAll(answer, host, MAX_ERROR_BYTES, 'the answer').catch(() => Buffer.alloc(0));
    return statusError(host, answer.status, answer.statusText, body.toString('utf8'), answer.headers['retry-after']);
  }
}

function basicAuthorization({ username, password }: RegistryCredential): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function realmUrl(host: string, realm: string | undefined): URL {
  try {
    const url = new URL(realm ?? '');
    if (url.protocol === 'https:' || url.protocol === 'http:') return url;
  } catch {
    // Told below.
  }
  throw new RegistryError(`${host} asks for a token without a usable address to get it from`);
}

function tokenOf(bytes: Buffer): string | undefined {
  try {
    const { token, access_token: accessToken } = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
    const found = token || accessToken;
    // A line break would begin another header.
    return typeof found === 'string' && /^[\x21-\x7e]+$/.test(found) ? found : undefined;
  } catch {
    return undefined;
  }
}
