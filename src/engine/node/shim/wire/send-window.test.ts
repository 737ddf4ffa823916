import { describe, expect, it } from 'vitest';
import { SendWindow, WINDOW_BYTES } from './send-window.ts';

function windowUnderTest() {
  const written: number[] = [];
  let rooms = 0;
  const window = new SendWindow({ write: (bytes) => void written.push(bytes.byteLength), onRoom: () => void rooms++ });
  return { window, written, rooms: () => rooms };
}

describe('SendWindow', () => {
  it('send goes through at once while there is room', () => {
    const { window, written } = windowUnderTest();
    expect(window.send(Buffer.alloc(10))).toBe(true);
    expect(written).toEqual([10]);
  });

  it('send holds back what the reader has not made room for', () => {
    const { window, written, rooms } = windowUnderTest();
    expect(window.send(Buffer.alloc(WINDOW_BYTES + 100))).toBe(false);
    expect([written, window.queuedBytes]).toEqual([[WINDOW_BYTES], 100]);
    window.consumed(40);
    expect([rooms(), window.queuedBytes]).toEqual([0, 60]);
    window.consumed(1000);
    expect([written, rooms()]).toEqual([[WINDOW_BYTES, 40, 60], 1]);
  });

  it('end comes after everything that waits, and once', () => {
    const { window, written } = windowUnderTest();
    window.send(Buffer.alloc(WINDOW_BYTES + 1));
    window.end();
    expect(written).toEqual([WINDOW_BYTES]);
    window.consumed(5);
    window.end();
    expect(written).toEqual([WINDOW_BYTES, 1, 0]);
  });
});
