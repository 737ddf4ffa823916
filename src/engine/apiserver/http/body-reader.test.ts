import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { MAX_BODY_BYTES, readBytes, type NodeRequest } from './body-reader.ts';

function request(headers: Record<string, string> = {}): PassThrough & NodeRequest {
  return Object.assign(new PassThrough(), { headers, aborted: false }) as unknown as PassThrough & NodeRequest;
}

describe('readBytes', () => {
  it('gives the whole body when it comes in pieces', async () => {
    const incoming = request();
    const read = readBytes(incoming);
    incoming.write('{"a":');
    incoming.end('1}');
    expect(Buffer.from(await read).toString()).toBe('{"a":1}');
  });

  it('refuses a body that does not come to its end', async () => {
    const incoming = request();
    incoming.write('{"a":');
    await expect(readBytes(incoming, 20)).rejects.toMatchObject({ code: 408 });
  });

  it('refuses a body that says it is too large, and one that is', async () => {
    await expect(readBytes(request({ 'content-length': String(MAX_BODY_BYTES + 1) }))).rejects.toMatchObject({ code: 413 });
    const incoming = request();
    const read = readBytes(incoming);
    incoming.end(Buffer.alloc(MAX_BODY_BYTES + 1));
    await expect(read).rejects.toMatchObject({ code: 413 });
  });
});
