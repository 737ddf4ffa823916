import { createHash, createHmac } from 'node:crypto';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface UnsignedRequest {
  method: string;
  /** With a path and query that are encoded as they are to be signed. */
  url: URL;
  headers: Record<string, string>;
  /** SHA-256 of the body, in hex. */
  payloadHash: string;
}

export const EMPTY_PAYLOAD_HASH = createHash('sha256').digest('hex');

/** The headers of a request, signed with AWS Signature Version 4. */
export function signedHeaders(request: UnsignedRequest, credentials: S3Credentials, region: string, now: Date): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.url.host,
    'x-amz-content-sha256': request.payloadHash,
    'x-amz-date': time,
    ...(credentials.sessionToken === undefined ? {} : { 'x-amz-security-token': credentials.sessionToken }),
  };
  const names = Object.keys(headers)
    .map((name) => name.toLowerCase())
    .toSorted();
  const valueOf = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, ' ')]));
  const canonical = [
    request.method,
    request.url.pathname,
    canonicalQuery(request.url),
    ...names.map((name) => `${name}:${valueOf.get(name)}`),
    '',
    names.join(';'),
    request.payloadHash,
  ].join('\n');
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = [time.slice(0, 8), region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  const credential = `${credentials.accessKeyId}/${scope}`;
  return { ...headers, authorization: `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=${names.join(';')},Signature=${signature}` };
}

/** Everything but the unreserved characters becomes an escape: what the signature asks for, and more than encodeURIComponent does. */
export function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join('&');
}
