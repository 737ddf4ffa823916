import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { ArtifactContent, ArtifactOrigin, ArtifactStoreDriver } from '../artifact-store.ts';
import { artifactKey, runPrefix } from '../model/artifact-keys.ts';
import { elementsOf, textOfElement } from './answers.ts';
import { S3Client, type S3ClientOptions, type S3Request } from './s3-client.ts';

export interface S3StoreOptions extends S3ClientOptions {
  prefix?: string;
  /** Larger artifacts are sent in parts of this size. */
  partSize?: number;
  /** Parts under way at once. */
  concurrency?: number;
}

const PART_SIZE = 8 << 20;
const CONCURRENCY = 4;
const MOST_PARTS = 10_000;

/** Artifacts as objects of a bucket of Amazon S3, or of something that speaks like it. */
export function s3Store(options: S3StoreOptions): ArtifactStoreDriver {
  const client = new S3Client(options);
  const { bucket, prefix, concurrency = CONCURRENCY } = options;
  return {
    async put(origin, content, signal) {
      const key = artifactKey(origin, content.name, prefix);
      const headers = { 'content-type': content.contentType, ...metadataOf(origin, content) };
      // However small the parts were asked to be, there may not be more than so many.
      const partSize = Math.max(options.partSize ?? PART_SIZE, Math.ceil(content.sizeBytes / MOST_PARTS));
      if (content.sizeBytes > partSize) await putInParts(client, { key, headers, signal }, content, partSize, concurrency);
      else
        await client.text({ method: 'PUT', key, headers, signal, body: range(content.path, 0, content.sizeBytes, hexOf(content.digest)) });
      return { s3: { bucket, key } };
    },
    async open(run, name, signal) {
      return client.ifThere(client.send({ method: 'GET', key: artifactKey(run, name, prefix), signal }));
    },
    async remove(run, name) {
      await client.ifThere(client.text({ method: 'DELETE', key: artifactKey(run, name, prefix) }));
    },
    async removeAll(run) {
      const below = runPrefix(run, prefix);
      await abandonUploads(client, below);
      for (let before: string | undefined; ;) {
        const list = await client.ifThere(client.text({ method: 'GET', query: { 'list-type': '2', prefix: below } }));
        // Without a bucket there is nothing in it.
        const keys = list === undefined ? [] : elementsOf(list, 'Key');
        if (keys.length === 0) return;
        if (keys[0] === before) throw new Error(`bucket "${bucket}": "${before}" is still there after it was removed`);
        before = keys[0];
        for (const key of keys) await client.ifThere(client.text({ method: 'DELETE', key }));
      }
    },
  };
}

type Target = Pick<S3Request, 'key' | 'headers' | 'signal'>;

/** All parts, or nothing: what was begun and not ended is taken back. */
async function putInParts(
  client: S3Client,
  target: Target,
  content: ArtifactContent,
  partSize: number,
  concurrency: number,
): Promise<void> {
  const { key, headers, signal } = target;
  const begun = await client.text({ method: 'POST', key, query: { uploads: '' }, headers, signal });
  const uploadId = textOfElement(begun, 'UploadId');
  try {
    const count = Math.ceil(content.sizeBytes / partSize);
    const tags: string[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < count; index = next++) {
        const start = index * partSize;
        const size = Math.min(partSize, content.sizeBytes - start);
        const body = range(content.path, start, size, await hashOfRange(content.path, start, size));
        const answer = await client.send({ method: 'PUT', key, query: { partNumber: String(index + 1), uploadId }, body, signal });
        answer.resume();
        tags[index] = answer.headers.etag ?? '';
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, count) }, work));
    const parts = tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag.replaceAll('"', '&quot;')}</ETag></Part>`,
    );
    const value = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`;
    const text = { value, sha256: createHash('sha256').update(value).digest('hex') };
    const ended = await client.text({ method: 'POST', key, query: { uploadId }, text, signal });
    // It answers 200 before it knows the outcome.
    if (ended.includes('<Error>')) throw new Error(`the store could not put the parts together: ${textOfElement(ended, 'Message')}`);
  } catch (error) {
    await client.text({ method: 'DELETE', key, query: { uploadId } }).catch(() => {});
    throw error;
  }
}

/** Those of a runtimed that was killed. Not every store knows them. */
async function abandonUploads(client: S3Client, prefix: string): Promise<void> {
  const list = await client.text({ method: 'GET', query: { uploads: '', prefix } }).catch(() => '');
  for (const upload of elementsOf(list, 'Upload')) {
    const [key, uploadId] = [textOfElement(upload, 'Key'), textOfElement(upload, 'UploadId')];
    if (key.startsWith(prefix)) await client.text({ method: 'DELETE', key, query: { uploadId } }).catch(() => '');
  }
}

function range(path: string, start: number, sizeBytes: number, sha256: string): NonNullable<S3Request['body']> {
  const open = () => (sizeBytes === 0 ? Readable.from([]) : createReadStream(path, { start, end: start + sizeBytes - 1 }));
  return { open, sizeBytes, sha256 };
}

async function hashOfRange(path: string, start: number, size: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { start, end: start + size - 1 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function hexOf(digest: string): string {
  return digest.slice('sha256:'.length);
}

function metadataOf(origin: ArtifactOrigin, content: ArtifactContent): Record<string, string> {
  const facts = {
    'run-name': origin.runName,
    'run-uid': origin.uid,
    namespace: origin.namespace,
    runtime: origin.runtime,
    'artifact-name': content.name,
    'artifact-type': content.type,
    digest: content.digest,
  };
  // Headers are ASCII: other names are escaped.
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [`x-amz-meta-kruntimes-${name}`, asciiOf(value)]));
}

function asciiOf(value: string): string {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) ? value : encodeURIComponent(value);
}
