import { describe, expect, it } from 'vitest';
import { framed, MessageFrames } from './message-frames.ts';

const messages = ['', 'a', 'hello', 'x'.repeat(300)];
const bytes = Buffer.concat(messages.map((text) => framed(Buffer.from(text))));

describe('MessageFrames', () => {
  it('finds each message once, wherever the stream is cut', () => {
    for (let at = 0; at <= bytes.length; at++) {
      const frames = new MessageFrames();
      const found = [bytes.subarray(0, at), bytes.subarray(at)].flatMap((part) => frames.push(part));
      expect(found.map(String)).toEqual(messages);
      expect(frames.isEmpty).toBe(true);
    }
  });

  it('finds them in single bytes', () => {
    const frames = new MessageFrames();
    const found = Array.from(bytes, (_, at) => frames.push(bytes.subarray(at, at + 1))).flat();
    expect(found.map(String)).toEqual(messages);
  });

  it('keeps what is not complete', () => {
    const frames = new MessageFrames();
    expect(frames.push(bytes.subarray(0, 7))).toHaveLength(1);
    expect(frames.isEmpty).toBe(false);
  });

  it('refuses a message that is compressed', () => {
    expect(() => new MessageFrames().push(Buffer.from([1, 0, 0, 0, 0]))).toThrow('compresses');
  });
});
