import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { stringifyInSlices } from '../../../kube/json-slices.ts';
import type { Json } from '../../../kube/object.ts';
import type { Schema } from '../../../kube/schema.ts';
import { readRecorded, recordedFiles } from '../builtin/recorded.ts';
import { objectResponse, type ApiRequest, type ApiResponse } from '../chain/request.ts';
import type { Resource } from '../registry/resource.ts';
import { runInSlices, type Sliced } from '../schema/slices.ts';
import { turns } from '../../../lib/turn-queue.ts';
import { customPaths } from './custom-paths.ts';

const unzip = promisify(gunzip);

/** One served version of a custom resource as it is published. */
export interface PublishedKind {
  resource: Resource;
  /** `com.example.stable.v1.CronTab` */
  definition: string;
  /** Definitions of the kind and its list, by name. */
  schemas(form: 'v2' | 'v3'): Sliced<Record<string, Schema>>;
}

/** A document that an aggregated server publishes under the same scheme. */
export interface ForeignDocument {
  /** `apis/wardle.example.com/v1alpha1` */
  path: string;
  bytes: Uint8Array;
}

export interface ForeignDefinitions {
  paths: Record<string, Json>;
  definitions: Record<string, Json>;
}

export interface OpenApiParts {
  /** Changes when `custom` or `foreign` do. */
  generation(): number;
  custom(): readonly PublishedKind[];
  foreign(): readonly ForeignDocument[];
  foreignDefinitions(): readonly ForeignDefinitions[];
}

interface Document {
  bytes: Uint8Array;
  hash: string;
  /** JSON if absent. */
  contentType?: string;
}

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The older spelling has an `@`, which is no valid media type; clients still send it. */
const ASKS_FOR_PROTOBUF = /application\/com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf/;

const META_PREFIX = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

/**
 * `/openapi/v2` and `/openapi/v3`. The documents of built-in kinds are files that are unpacked when asked for; those of custom
 * kinds are made when asked for and kept until a CRD changes. Nothing of it is in memory before somebody asks.
 */
export class OpenApi {
  readonly #parts: OpenApiParts;
  #generation = -1;
  readonly #documents = new Map<string, Document>();
  readonly #hashes = new Map<string, string>();

  constructor(parts: OpenApiParts) {
    this.#parts = parts;
  }

  async answer(path: string, request: Pick<ApiRequest, 'headers'>): Promise<ApiResponse | undefined> {
    this.#forgetOld();
    if (path === '/openapi/v3' || path === '/openapi/v3/') return objectResponse(200, { paths: await this.#index() });
    const document = await this.#document(path, request.headers.accept ?? '');
    if (document === undefined) return undefined;
    const headers = { etag: `"${document.hash}"`, vary: 'Accept' };
    const contentType = document.contentType ?? 'application/json';
    if (request.headers['if-none-match'] === headers.etag) {
      return { status: 304, headers, body: { kind: 'raw', contentType, bytes: new Uint8Array(0) } };
    }
    return { status: 200, headers, body: { kind: 'raw', contentType, bytes: document.bytes } };
  }

  #document(path: string, accept: string | string[]): Promise<Document | undefined> {
    if (path !== '/openapi/v2') return this.#v3(path.slice('/openapi/v3/'.length));
    return ASKS_FOR_PROTOBUF.test(String(accept)) ? this.#v2Protobuf() : this.#v2();
  }

  #forgetOld(): void {
    const generation = this.#parts.generation();
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#documents.clear();
  }

  async #index(): Promise<Json> {
    const paths: Json = {};
    for (const file of recordedFiles('openapi/v3')) {
      const name = file.replace(/\.json\.gz$/, '');
      const path = pathOfFile(name);
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${this.#fileHash(`openapi/v3/${file}`)}` };
    }
    for (const [path, kinds] of this.#customByPath()) {
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${await hashOf(kinds)}` };
    }
    for (const { path, bytes } of this.#parts.foreign()) {
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${sha(bytes)}` };
    }
    return paths;
  }

  #customByPath(): Map<string, PublishedKind[]> {
    const byPath = new Map<string, PublishedKind[]>();
    for (const kind of this.#parts.custom()) {
      const path = `apis/${kind.resource.group}/${kind.resource.version}`;
      byPath.set(path, [...(byPath.get(path) ?? []), kind]);
    }
    return byPath;
  }

  #fileHash(file: string): string {
    let hash = this.#hashes.get(file);
    if (hash === undefined) this.#hashes.set(file, (hash = sha(readRecorded(file))));
    return hash;
  }

  async #v3(path: string): Promise<Document | undefined> {
    const known = this.#documents.get(path);
    if (known !== undefined) return known;
    const generation = this.#parts.generation();
    const foreign = this.#parts.foreign().find((candidate) => candidate.path === path);
    const custom = this.#customByPath().get(path);
    let document: Document | undefined;
    if (foreign !== undefined) document = { bytes: foreign.bytes, hash: sha(foreign.bytes) };
    else if (custom !== undefined) document = { bytes: await this.#customDocument(custom), hash: await hashOf(custom) };
    else {
      const file = `${path.replaceAll('/', '_')}.json.gz`;
      if (!recordedFiles('openapi/v3').includes(file)) return undefined;
      document = { bytes: await unzip(readRecorded(`openapi/v3/${file}`)), hash: this.#fileHash(`openapi/v3/${file}`) };
      // Built-in documents are large and rarely asked for: unpack again rather than hold megabytes.
      return document;
    }
    // What was read before a definition changed must not be kept as what is true behind it.
    if (generation === this.#parts.generation()) this.#documents.set(path, document);
    return document;
  }

  async #customDocument(kinds: readonly PublishedKind[]): Promise<Uint8Array> {
    const meta = (await metaSchemas()).slice(0, -1);
    const info = JSON.stringify({ title: 'Kubernetes CRD Swagger', version: 'v0.1.0' });
    const paths: Buffer[] = [];
    const schemas: Buffer[] = [];
    for (const kind of kinds) {
      const separator = paths.length > 0 ? ',' : '';
      paths.push(Buffer.from(separator + inner(customPaths(kind.resource, kind.definition, 'v3'))));
      schemas.push(Buffer.from(`,${await runInSlices(innerText(kind, 'v3'))}`));
      // However small a schema is, there may be many: others get their turn before the next one.
      await turns.pause();
    }
    const head = Buffer.from(`{"openapi":"3.0.0","info":${info},"paths":{`);
    return Buffer.concat([head, ...paths, Buffer.from(`},"components":{"schemas":${meta}`), ...schemas, Buffer.from('}}}')]);
  }

  /** The recorded document with the custom kinds written into its text: parsing megabytes would hold the event loop. */
  async #v2(): Promise<Document> {
    const known = this.#documents.get('v2');
    if (known !== undefined) return known;
    const generation = this.#parts.generation();
    const recorded = await unzip(readRecorded('openapi/v2.json.gz'));
    const paths: Buffer[] = [];
    const definitions: Buffer[] = [];
    for (const kind of this.#parts.custom()) {
      paths.push(Buffer.from(`${inner(customPaths(kind.resource, kind.definition, 'v2'))},`));
      definitions.push(Buffer.from(`${await runInSlices(innerText(kind, 'v2'))},`));
      await turns.pause();
    }
    for (const foreign of this.#parts.foreignDefinitions()) {
      for (const [list, value] of [[paths, foreign.paths] as const, [definitions, foreign.definitions] as const]) {
        const text = inner(value);
        if (text !== '') list.push(Buffer.from(`${text},`));
      }
    }
    const bytes = withInsertions(recorded, [
      ['"paths":{', paths],
      ['"definitions":{', definitions],
    ]);
    await turns.pause();
    const document = { bytes, hash: await shaInSlices(bytes) };
    // Without anything of our own it is the recorded file: unpack again rather than hold megabytes.
    if (paths.length > 0 && generation === this.#parts.generation()) this.#documents.set('v2', document);
    return document;
  }

  /** The recorded bytes with those of the other kinds behind them: joined messages are one message. */
  async #v2Protobuf(): Promise<Document> {
    const { encodeSwagger } = await import('./protobuf-document.ts');
    const parts: Uint8Array[] = [await unzip(readRecorded('openapi/v2.pb.gz'))];
    for (const kind of this.#parts.custom()) {
      const paths = customPaths(kind.resource, kind.definition, 'v2');
      parts.push(encodeSwagger({ paths, definitions: await runInSlices(kind.schemas('v2')) }));
      await turns.pause();
    }
    for (const { paths, definitions } of this.#parts.foreignDefinitions()) parts.push(encodeSwagger({ paths, definitions }));
    const bytes = Buffer.concat(parts);
    return { bytes, hash: sha(bytes), contentType: PROTOBUF };
  }
}

/** The fields of an object as text. */
function inner(value: Record<string, Json>): string {
  return JSON.stringify(value).slice(1, -1);
}

/** The same for the schemas of a kind, which may be large. */
function* innerText(kind: PublishedKind, form: 'v2' | 'v3'): Sliced<string> {
  return (yield* stringifyInSlices(yield* kind.schemas(form))).slice(1, -1);
}

/** Copies the text once, with what belongs behind each of the markers. */
function withInsertions(text: Buffer, insertions: readonly (readonly [marker: string, additions: readonly Buffer[]])[]): Buffer {
  const places = insertions
    .filter(([, additions]) => additions.length > 0)
    .map(([marker, additions]) => ({ at: text.indexOf(marker) + marker.length, additions }))
    .sort((a, b) => a.at - b.at);
  if (places.length === 0) return text;
  const parts: Buffer[] = [];
  let from = 0;
  for (const { at, additions } of places) {
    parts.push(text.subarray(from, at), ...additions);
    from = at;
  }
  return Buffer.concat([...parts, text.subarray(from)]);
}

function pathOfFile(name: string): string {
  const parts = name.split('_');
  return parts.join('/');
}

let metaSchemaText: string | undefined;

/** JSON text of ObjectMeta and its relatives, taken from a recorded document that has them anyway. */
async function metaSchemas(): Promise<string> {
  if (metaSchemaText === undefined) {
    const document = JSON.parse((await unzip(readRecorded('openapi/v3/apis_coordination.k8s.io_v1.json.gz'))).toString('utf8'));
    const all = Object.entries(document.components.schemas).filter(([name]) => name.startsWith(META_PREFIX));
    metaSchemaText = JSON.stringify(Object.fromEntries(all));
  }
  return metaSchemaText;
}

function sha(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').toUpperCase();
}

const SLICE_BYTES = 1024 * 1024;

async function shaInSlices(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.byteLength; from += SLICE_BYTES) {
    hash.update(bytes.subarray(from, from + SLICE_BYTES));
    await turns.pause();
  }
  return hash.digest('hex').toUpperCase();
}

const hashes = new WeakMap<Resource, string>();

async function hashOf(kinds: readonly PublishedKind[]): Promise<string> {
  let all = '';
  for (const kind of kinds) {
    let hash = hashes.get(kind.resource);
    if (hash === undefined) {
      hash = await shaInSlices(Buffer.from(await runInSlices(innerText(kind, 'v3'))));
      hashes.set(kind.resource, hash);
    }
    all += `${kind.definition}=${hash};`;
  }
  return sha(Buffer.from(all));
}
