import { describe, expect, it } from 'vitest';
import { encodeData, encodeMessage, FrameReader, type Frame } from './frames.ts';

function readIn(pieces: Buffer[]): Frame[] {
  const reader = new FrameReader();
  return pieces.flatMap((piece) => [...reader.push(piece)]);
}

function cut(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

describe('frames', () => {
  const sent = Buffer.concat([
    encodeMessage({ type: 'request', id: 1, text: 'grüße' }),
    encodeData(7, 1, Buffer.from('output')),
    encodeData(7, 2, Buffer.alloc(0)),
    encodeMessage({ type: 'close' }),
  ]);

  it.each([1, 2, 3, 5, 9, 10, 1000])('frames arrive whole when they are cut into pieces of %i bytes', (size) => {
    expect(readIn(cut(sent, size)).map((frame) => (frame.kind === 'data' ? { ...frame, bytes: frame.bytes.toString() } : frame))).toEqual([
      { kind: 'message', message: { type: 'request', id: 1, text: 'grüße' } },
      { kind: 'data', session: 7, stream: 1, bytes: 'output' },
      { kind: 'data', session: 7, stream: 2, bytes: '' },
      { kind: 'message', message: { type: 'close' } },
    ]);
  });

  it.each([
    ['a length of nothing', Buffer.from([0, 0, 0, 0, 0])],
    ['a length that nobody needs', Buffer.from([0xff, 0, 0, 0, 0])],
    ['an unknown kind', Buffer.from([0, 0, 0, 1, 9])],
    ['a fourth stream', Buffer.from([0, 0, 0, 6, 1, 0, 0, 0, 1, 3])],
  ])('frames are refused with %s', (_name, bytes) => {
    expect(() => readIn([bytes])).toThrow('not the protocol of the shim');
  });
});
