import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { digestOf, gzipLayer, type ArchiveEntry } from './tar-archive.ts';

/** A registry for tests: it speaks the real protocol, and misbehaves when told to. */
export interface TestRegistry {
  /** `127.0.0.1:<port>`. */
  host: string;
  /** What was asked for, in order: `GET /v2/...`. */
  requests: string[];
  /** The authorization of each request, by the same index. */
  authorizations: (string | undefined)[];
  push(repository: string, tag: string, image: TestImage): PushedImage;
  putManifest(repository: string, reference: string, mediaType: string, value: unknown): string;
  putBlob(bytes: Buffer): string;
  blobs: Map<string, Buffer>;
  /** Called before everything else; true when it has answered by itself, or will never answer. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

export interface TestImage {
  layers: ArchiveEntry[][];
  config?: Record<string, unknown>;
  architecture?: string;
}

export interface PushedImage {
  digest: string;
  config: string;
  layers: string[];
  diffIds: string[];
}

export interface RegistryBehaviour {
  /** Who may read; nobody needs a name when absent. */
  login?: { scheme: 'basic' | 'bearer'; username: string; password: string };
  tls?: { key: string; cert: string };
  /** Answers 404 to the question what refers to a manifest, as older registries do. */
  withoutReferrers?: boolean;
}

interface Contents {
  /** By `<repository> <tag or digest>`. */
  manifests: Map<string, { bytes: Buffer; mediaType: string }>;
  blobs: Map<string, Buffer>;
  /** What came so far, by the path to send more to. */
  uploads: Map<string, Buffer>;
}

const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';
const TOKEN = 'token-of-the-test';

export async function startTestRegistry(behaviour: RegistryBehaviour = {}): Promise<TestRegistry> {
  const manifests = new Map<string, { bytes: Buffer; mediaType: string }>();
  const blobs = new Map<string, Buffer>();
  const requests: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const contents: Contents = { manifests, blobs, uploads: new Map() };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push(`${request.method} ${request.url}`);
    authorizations.push(request.headers.authorization);
    if (registry.intercept?.(request, response) === true) return;
    if (request.url!.startsWith('/token')) sendToken(request, response, behaviour);
    else if (!isAllowed(request, behaviour)) challenge(request, response, behaviour, registry.host);
    else if (request.url === '/v2/') response.end('{}');
    else if (['PUT', 'POST', 'PATCH'].includes(request.method!)) void receive(request, response, contents);
    else if (request.url!.includes('/referrers/') && !behaviour.withoutReferrers) sendReferrers(request, response, manifests);
    else sendContent(request, response, manifests, blobs);
  };
  const server = behaviour.tls ? createTlsServer(behaviour.tls, answer) : createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const putBlob = (bytes: Buffer): string => {
    blobs.set(digestOf(bytes), bytes);
    return digestOf(bytes);
  };
  const putManifest = (repository: string, reference: string, mediaType: string, value: unknown): string => {
    const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
    for (const name of [reference, digestOf(bytes)]) manifests.set(`${repository} ${name}`, { bytes, mediaType });
    return digestOf(bytes);
  };
  const registry: TestRegistry = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    authorizations,
    blobs,
    putBlob,
    putManifest,
    push: (repository, tag, image) => pushImage(image, putBlob, (manifest) => putManifest(repository, tag, OCI_MANIFEST, manifest)),
    intercept: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return registry;
}

/** The documents of an image, put wherever `put` puts them. */
export function pushImage(image: TestImage, putBlob: (bytes: Buffer) => string, putManifest: (manifest: unknown) => string): PushedImage {
  const layers = image.layers.map((entries) => gzipLayer(entries));
  const config = Buffer.from(
    JSON.stringify({
      os: 'linux',
      architecture: image.architecture ?? 'amd64',
      config: image.config ?? { Cmd: ['/bin/app'] },
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    }),
  );
  for (const { blob } of layers) putBlob(blob);
  const digest = putManifest({
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: putBlob(config), size: config.length },
    layers: layers.map(({ blob, digest: layer }) => ({
      mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
      digest: layer,
      size: blob.length,
    })),
  });
  return { digest, config: digestOf(config), layers: layers.map((layer) => layer.digest), diffIds: layers.map(({ diffId }) => diffId) };
}

function sendContent(
  request: IncomingMessage,
  response: ServerResponse,
  manifests: ReadonlyMap<string, { bytes: Buffer; mediaType: string }>,
  blobs: ReadonlyMap<string, Buffer>,
): void {
  const [, repository, kind, reference] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)$/.exec(request.url!) ?? [];
  const manifest = kind === 'manifests' ? manifests.get(`${repository} ${reference}`) : undefined;
  const blob = kind === 'blobs' ? blobs.get(reference) : undefined;
  if (manifest) {
    const headers = { 'content-type': manifest.mediaType, 'docker-content-digest': digestOf(manifest.bytes) };
    response.writeHead(200, { ...headers, 'content-length': manifest.bytes.length }).end(manifest.bytes);
  } else if (blob) {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const headers = { 'content-length': blob.length - start };
    if (start > 0) response.writeHead(206, { ...headers, 'content-range': `bytes ${start}-${blob.length - 1}/${blob.length}` });
    else response.writeHead(200, headers);
    response.end(blob.subarray(start));
  } else {
    refuse(response, 404, kind === 'blobs' ? 'BLOB_UNKNOWN' : 'MANIFEST_UNKNOWN', 'manifest unknown');
  }
}

/** Uploads, in one piece or several, and manifests. */
async function receive(request: IncomingMessage, response: ServerResponse, { manifests, blobs, uploads }: Contents): Promise<void> {
  const sent = await buffer(request);
  const url = new URL(request.url!, 'http://registry');
  const [, repository, reference] = /^\/v2\/(.+)\/manifests\/([^/]+)$/.exec(url.pathname) ?? [];
  if (repository !== undefined) {
    const mediaType = request.headers['content-type'] ?? '';
    for (const name of [reference, digestOf(sent)]) manifests.set(`${repository} ${name}`, { bytes: sent, mediaType });
    response.writeHead(201, { 'docker-content-digest': digestOf(sent) }).end();
    return;
  }
  const bytes = Buffer.concat([uploads.get(url.pathname) ?? Buffer.alloc(0), sent]);
  if (request.method === 'POST') {
    response.writeHead(202, { location: `${url.pathname}${uploads.size + 1}?state=x` }).end();
    uploads.set(`${url.pathname}${uploads.size + 1}`, Buffer.alloc(0));
  } else if (request.method === 'PATCH') {
    uploads.set(url.pathname, bytes);
    response.writeHead(202, { location: `${url.pathname}?state=x` }).end();
  } else if (url.searchParams.get('digest') === digestOf(bytes)) {
    blobs.set(digestOf(bytes), bytes);
    response.writeHead(201).end();
  } else {
    refuse(response, 400, 'DIGEST_INVALID', 'the content has another digest');
  }
}

function sendReferrers(request: IncomingMessage, response: ServerResponse, manifests: Contents['manifests']): void {
  const [, repository, subject] = /^\/v2\/(.+)\/referrers\/([^/?]+)$/.exec(request.url!) ?? [];
  const found = [...manifests].flatMap(([name, { bytes, mediaType }]) => {
    if (name !== `${repository} ${digestOf(bytes)}`) return [];
    const value = JSON.parse(bytes.toString('utf8')) as { subject?: { digest: string }; artifactType?: string; annotations?: object };
    const { artifactType, annotations } = value;
    return value.subject?.digest === subject ? [{ mediaType, digest: digestOf(bytes), size: bytes.length, artifactType, annotations }] : [];
  });
  const index = { schemaVersion: 2, mediaType: OCI_INDEX, manifests: found };
  response.writeHead(200, { 'content-type': OCI_INDEX }).end(JSON.stringify(index));
}

function isAllowed(request: IncomingMessage, { login }: RegistryBehaviour): boolean {
  if (login === undefined) return true;
  const expected = login.scheme === 'bearer' ? `Bearer ${TOKEN}` : basic(login);
  return request.headers.authorization === expected;
}

function challenge(request: IncomingMessage, response: ServerResponse, { login, tls }: RegistryBehaviour, host: string): void {
  const repository = /^\/v2\/(.+)\/(?:manifests|blobs|referrers)\//.exec(request.url!)?.[1];
  const bearer = `Bearer realm="${tls ? 'https' : 'http'}://${host}/token",service="test",scope="repository:${repository}:pull,push"`;
  response.setHeader('www-authenticate', login!.scheme === 'bearer' ? bearer : 'Basic realm="test"');
  refuse(response, 401, 'UNAUTHORIZED', 'authentication required');
}

function sendToken(request: IncomingMessage, response: ServerResponse, { login }: RegistryBehaviour): void {
  if (login === undefined || request.headers.authorization !== basic(login)) refuse(response, 401, 'UNAUTHORIZED', 'wrong password');
  else response.end(JSON.stringify({ token: TOKEN, expires_in: 60 }));
}

export function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ errors: [{ code, message }] }));
}

function basic({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
