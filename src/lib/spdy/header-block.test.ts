import { constants, createDeflate } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DICTIONARY_ID, HEADER_DICTIONARY } from './dictionary.ts';
import { HeaderReader, HeaderWriter, type SpdyHeaders } from './header-block.ts';
import { SpdyError } from './spdy-error.ts';

function adler32(bytes: Buffer): number {
  let a = 1;
  let b = 0;
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}

function plainBlock(headers: SpdyHeaders): Buffer {
  // The writer's own blocks are stored ones: zlib's header, five bytes, the block, the flush.
  return new HeaderWriter().write(headers).subarray(7, -5);
}

/** As Go's zlib writer does it: one stream with the dictionary, flushed after each block. */
async function packedLikeGo(blocks: Buffer[]): Promise<Buffer[]> {
  const deflate = createDeflate({ dictionary: HEADER_DICTIONARY, level: 9 });
  const packed: Buffer[] = [];
  for (const block of blocks) {
    const parts: Buffer[] = [];
    const take = (chunk: Buffer): void => void parts.push(chunk);
    deflate.on('data', take);
    deflate.write(block);
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, () => resolve()));
    deflate.off('data', take);
    packed.push(Buffer.concat(parts));
  }
  return packed;
}

describe('header blocks', () => {
  it('the dictionary is the one of the specification', () => {
    expect(HEADER_DICTIONARY).toHaveLength(1423);
    expect(adler32(HEADER_DICTIONARY)).toBe(DICTIONARY_ID);
  });

  it('blocks packed as one zlib stream with the dictionary are read, later ones referring to earlier ones', async () => {
    const all: SpdyHeaders[] = [];
    for (let index = 0; index < 40; index++) {
      all.push({
        streamtype: index % 2 === 0 ? 'data' : 'error',
        port: '8080',
        requestid: String(index),
        'user-agent': 'x'.repeat(index * 60),
      });
    }
    const reader = new HeaderReader();
    const packed = await packedLikeGo(all.map(plainBlock));
    expect(packed.map((block) => reader.read(block))).toEqual(all);
  });

  it('what the writer packs, the reader reads, block after block', () => {
    const writer = new HeaderWriter();
    const reader = new HeaderReader();
    for (const headers of [{}, { streamtype: 'stdin' }, { streamtype: 'stdout', port: '1' }] as SpdyHeaders[]) {
      expect(reader.read(writer.write(headers))).toEqual(headers);
    }
  });

  it.each([
    ['no zlib', Buffer.from('hello world')],
    ['nothing', Buffer.alloc(0)],
    ['another dictionary', Buffer.from([0x78, 0xbb, 1, 2, 3, 4, 5])],
    ['a block that ends early', new HeaderWriter().write({ streamtype: 'stdin' }).subarray(0, 16)],
  ])('%s is refused', (_, packed) => {
    expect(() => new HeaderReader().read(packed)).toThrow(SpdyError);
  });

  it('a small block that unpacks to megabytes is refused', async () => {
    const [bomb] = await packedLikeGo([Buffer.alloc(10 * 1024 * 1024)]);
    expect(bomb.length).toBeLessThan(64 * 1024);
    expect(() => new HeaderReader().read(bomb)).toThrow('cannot be unpacked');
  });
});
