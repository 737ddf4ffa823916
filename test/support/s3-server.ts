import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signedHeaders, type S3Credentials } from '../../src/areas/runs/artifacts/s3/signature.ts';

interface StoredObject {
  body: Buffer;
  headers: Record<string, string>;
}

/**
 * A bucket in memory that speaks S3 with the bucket in the path. Every request must be signed, and its body must be what was signed.
 * `refuse` lets a test say no in the store's place.
 */
export class S3Server {
  readonly credentials: S3Credentials = { accessKeyId: 'test-key', secretAccessKey: 'test/secret+key' };
  readonly region = 'eu-test-1';
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, { key: string; headers: Record<string, string>; parts: Map<number, Buffer> }>();
  readonly requests: string[] = [];
  refuse: ((method: string, key: string, query: URLSearchParams) => { status: number; code: string } | undefined) | undefined;
  readonly #server: Server;

  readonly bucket: string;

  private constructor(bucket: string) {
    this.bucket = bucket;
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        ({ status, body = '', headers = {} }) => response.writeHead(status, headers).end(body),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  }

  static async start(bucket = 'artifacts'): Promise<S3Server> {
    const server = new S3Server(bucket);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const url = new URL(request.url!, this.endpoint);
    const problem = this.#signatureProblem(request, url, body);
    if (problem !== undefined) return refusal(403, problem);
    const [bucket, ...rest] = url.pathname.slice(1).split('/');
    const key = rest.map(decodeURIComponent).join('/');
    const { searchParams: query } = url;
    const method = request.method!;
    this.requests.push(`${method} ${key}${url.search}`);
    const refused = this.refuse?.(method, key, query);
    if (refused !== undefined) return refusal(refused.status, refused.code);
    if (bucket !== this.bucket) return refusal(404, 'NoSuchBucket');
    if (query.has('uploads') || query.has('uploadId')) return this.#multipart(method, key, query, request, body);
    return this.#object(method, key, query, request, body);
  }

  #signatureProblem(request: IncomingMessage, url: URL, body: Buffer): string | undefined {
    const match = /Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request,\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    );
    if (match === null) return 'AccessDenied';
    const [, accessKeyId, , region, names, signature] = match;
    if (accessKeyId !== this.credentials.accessKeyId) return 'InvalidAccessKeyId';
    const sent = request.headers['x-amz-content-sha256'] as string;
    if (sent !== createHash('sha256').update(body).digest('hex')) return 'XAmzContentSHA256Mismatch';
    const computed = new Set(['host', 'x-amz-content-sha256', 'x-amz-date']);
    const headers = Object.fromEntries(
      names
        .split(';')
        .filter((name) => !computed.has(name))
        .map((name) => [name, request.headers[name] as string]),
    );
    const time = (request.headers['x-amz-date'] as string).replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
    const again = signedHeaders(
      { method: request.method!, url, headers, payloadHash: sent },
      this.credentials,
      this.region,
      new Date(time),
    );
    return region === this.region && again['authorization'].endsWith(`Signature=${signature}`) ? undefined : 'SignatureDoesNotMatch';
  }

  #object(method: string, key: string, query: URLSearchParams, request: IncomingMessage, body: Buffer): Answer {
    if (method === 'PUT') {
      this.objects.set(key, { body, headers: metadataOf(request) });
      return { status: 200, headers: { etag: etagOf(body) } };
    }
    if (method === 'DELETE') {
      this.objects.delete(key);
      return { status: 204 };
    }
    if (key === '') {
      const keys = [...this.objects.keys()].filter((name) => name.startsWith(query.get('prefix') ?? '')).slice(0, 2);
      const contents = keys.map((name) => `<Contents><Key>${xmlOf(name)}</Key></Contents>`).join('');
      return { status: 200, body: `<ListBucketResult>${contents}</ListBucketResult>` };
    }
    const found = this.objects.get(key);
    return found === undefined ? refusal(404, 'NoSuchKey') : { status: 200, body: found.body, headers: found.headers };
  }

  #multipart(method: string, key: string, query: URLSearchParams, request: IncomingMessage, body: Buffer): Answer {
    if (method === 'GET') {
      const uploads = [...this.uploads].filter(([, upload]) => upload.key.startsWith(query.get('prefix') ?? ''));
      const text = uploads.map(([id, upload]) => `<Upload><Key>${upload.key}</Key><UploadId>${id}</UploadId></Upload>`).join('');
      return { status: 200, body: `<ListMultipartUploadsResult>${text}</ListMultipartUploadsResult>` };
    }
    if (query.has('uploads')) {
      const id = randomBytes(8).toString('hex');
      this.uploads.set(id, { key, headers: metadataOf(request), parts: new Map() });
      return { status: 200, body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>` };
    }
    const id = query.get('uploadId')!;
    const upload = this.uploads.get(id);
    if (upload === undefined) return refusal(404, 'NoSuchUpload');
    if (method === 'PUT') {
      upload.parts.set(Number(query.get('partNumber')), body);
      return { status: 200, headers: { etag: etagOf(body) } };
    }
    this.uploads.delete(id);
    if (method === 'DELETE') return { status: 204 };
    const wanted = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/g)];
    const parts = wanted.map(([, number, tag]) => ({ part: upload.parts.get(Number(number)), tag: tag.replaceAll('&quot;', '"') }));
    if (parts.some(({ part, tag }) => part === undefined || etagOf(part) !== tag)) return refusal(400, 'InvalidPart');
    if (parts.slice(0, -1).some(({ part }) => part!.length < 5 << 20)) return refusal(400, 'EntityTooSmall');
    this.objects.set(key, { body: Buffer.concat(parts.map(({ part }) => part!)), headers: upload.headers });
    return { status: 200, body: '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>' };
  }
}

interface Answer {
  status: number;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

function refusal(status: number, code: string): Answer {
  return { status, body: `<Error><Code>${code}</Code><Message>told by the test</Message></Error>` };
}

function xmlOf(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

function metadataOf(request: IncomingMessage): Record<string, string> {
  const kept = Object.entries(request.headers).filter(([name]) => name.startsWith('x-amz-meta-') || name === 'content-type');
  return Object.fromEntries(kept) as Record<string, string>;
}
