import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONTROL, controlFrame, dataHead, FrameParser, words, type Frame } from './frames.ts';
import { HeaderWriter } from './header-block.ts';
import { SpdyError } from './spdy-error.ts';

function cut(bytes: Buffer, sizes: number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (let index = 0; at < bytes.length; index++) {
    const size = sizes.length === 0 ? bytes.length : sizes[index % sizes.length];
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

function parse(pieces: Buffer[]): Frame[] {
  const parser = new FrameParser();
  return pieces.flatMap((piece) => [...parser.push(piece)]);
}

/** Pieces of data put together again: how they were cut says nothing. */
function joined(frames: Frame[]): unknown[] {
  const result: unknown[] = [];
  let open: { stream: number; text: string } | undefined;
  for (const frame of frames) {
    if (frame.type !== 'data') {
      result.push(frame);
      continue;
    }
    open ??= { stream: frame.stream, text: '' };
    open.text += frame.bytes.toString('latin1');
    if (frame.fin) {
      result.push(open);
      open = undefined;
    }
  }
  return result;
}

function conversation(): Buffer {
  const packer = new HeaderWriter();
  const syn = (id: number, headers: Record<string, string>) =>
    controlFrame(CONTROL.synStream, 0, Buffer.concat([words(id, 0), Buffer.alloc(2), packer.write(headers)]));
  return Buffer.concat([
    syn(1, { streamtype: 'error' }),
    syn(3, { streamtype: 'stdin' }),
    controlFrame(CONTROL.settings, 0, words(1, 4, 100)),
    dataHead(3, 11, true),
    Buffer.from('hello world'),
    controlFrame(CONTROL.windowUpdate, 0, words(3, 1000)),
    controlFrame(99, 0, Buffer.from('of the future')),
    controlFrame(CONTROL.ping, 0, words(7)),
    dataHead(1, 0, true),
    controlFrame(CONTROL.rstStream, 0, words(1, 5)),
    controlFrame(CONTROL.goAway, 0, words(3, 0)),
  ]);
}

describe('FrameParser', () => {
  it('frames come out the same however the bytes are cut', () => {
    const bytes = conversation();
    const whole = joined(parse([bytes]));
    expect(whole).toEqual([
      { type: 'synStream', stream: 1, headers: { streamtype: 'error' }, fin: false, unidirectional: false },
      { type: 'synStream', stream: 3, headers: { streamtype: 'stdin' }, fin: false, unidirectional: false },
      { type: 'settings' },
      { stream: 3, text: 'hello world' },
      { type: 'windowUpdate', stream: 3, delta: 1000 },
      { type: 'ping', id: 7 },
      { stream: 1, text: '' },
      { type: 'rstStream', stream: 1, status: 5 },
      { type: 'goAway', lastStream: 3, status: 0 },
    ]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 10 }), (sizes) => {
        expect(joined(parse(cut(bytes, sizes)))).toEqual(whole);
      }),
    );
  });

  it('a data frame of 16 MB is handed on as it arrives, nothing is gathered', () => {
    const parser = new FrameParser();
    expect([...parser.push(dataHead(1, 0xffffff, true))]).toEqual([]);
    const [piece] = parser.push(Buffer.from('first'));
    expect(piece).toEqual({ type: 'data', stream: 1, bytes: Buffer.from('first'), fin: false });
  });

  it.each([
    ['a control frame of more than 64 KiB', Buffer.concat([Buffer.from([0x80, 3, 0, 1]), words(0x00ffffff)]), 'at most 65536'],
    ['another version of SPDY', Buffer.concat([Buffer.from([0x80, 2, 0, 6]), words(4, 1)]), 'SPDY version 2'],
    ['a stream without number', controlFrame(CONTROL.rstStream, 0, words(0, 1)), 'belongs to no stream'],
    ['data without stream', dataHead(0, 1, false), 'belongs to no stream'],
    ['a control frame that is too short', controlFrame(CONTROL.rstStream, 0, words(1)), 'too short'],
    ['headers that are no zlib', controlFrame(CONTROL.synReply, 0, Buffer.concat([words(1), Buffer.from('nonsense')])), 'zlib'],
  ])('%s is refused with a reason', (_, bytes, reason) => {
    expect(() => parse([bytes])).toThrow(reason);
  });

  it('whatever arrives is either frames or a SpdyError, and is worked through once', () => {
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
      fc.record({ at: fc.nat(), value: fc.nat(255), cutAt: fc.nat() }).map(({ at, value, cutAt }) => {
        const bytes = conversation();
        bytes[at % bytes.length] = value;
        return bytes.subarray(0, 1 + (cutAt % bytes.length));
      }),
    );
    fc.assert(
      fc.property(anything, fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 4 }), (bytes, sizes) => {
        try {
          const frames = parse(cut(bytes, sizes));
          expect(frames.length).toBeLessThanOrEqual(bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
