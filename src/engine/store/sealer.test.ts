import { describe, expect, it } from 'vitest';
import { createSealer, SealError } from './sealer.ts';

const key = (id: string, fill: number) => ({ id, secret: Buffer.alloc(32, fill) });
const value = Buffer.from('hunter2');

describe('createSealer', () => {
  it('open gives back what seal took, and the value cannot be read in between', () => {
    const sealer = createSealer([key('one', 1)]);
    const sealed = Buffer.from(sealer.seal('/secrets/a', value));
    expect(sealed.includes(value)).toBe(false);
    expect(sealer.open('/secrets/a', sealed)).toEqual(value);
  });

  it('seal never makes the same bytes twice', () => {
    const sealer = createSealer([key('one', 1)]);
    expect(sealer.seal('/a', value)).not.toEqual(sealer.seal('/a', value));
  });

  it('open works with an older key after a rotation, and seal uses the first', () => {
    const old = createSealer([key('one', 1)]).seal('/a', value);
    const rotated = createSealer([key('two', 2), key('one', 1)]);
    expect(rotated.open('/a', old)).toEqual(value);
    expect(createSealer([key('two', 2)]).open('/a', rotated.seal('/a', value))).toEqual(value);
  });

  const flip = (sealed: Uint8Array, at: number) => {
    const changed = Buffer.from(sealed);
    changed[at < 0 ? changed.length + at : at] ^= 1;
    return changed;
  };

  it.each<[string, string, (sealed: Uint8Array) => Uint8Array, string]>([
    ['moved to another key', '/b', (sealed) => sealed, 'it was changed, moved, or sealed with another key named "one"'],
    ['changed', '/a', (sealed) => flip(sealed, 20), 'it was changed'],
    ['changed in its tag', '/a', (sealed) => flip(sealed, -1), 'it was changed'],
    ['sealed with an unknown key', '/a', (sealed) => flip(sealed, 2), 'which was not given; give it too'],
    ['of an unknown format', '/a', (sealed) => flip(sealed, 0), 'not a sealed value this release knows'],
    ['cut short', '/a', (sealed) => sealed.subarray(0, 10), 'not a sealed value this release knows'],
    ['empty', '/a', () => new Uint8Array(0), 'not a sealed value this release knows'],
  ])('open refuses a value that was %s', (_how, path, change, message) => {
    const sealer = createSealer([key('one', 1)]);
    const sealed = change(sealer.seal('/a', value));
    expect(() => sealer.open(path, sealed)).toThrow(SealError);
    expect(() => sealer.open(path, sealed)).toThrow(message);
  });

  it.each([
    ['no key', []],
    ['a short key', [{ id: 'a', secret: Buffer.alloc(16) }]],
    ['a key without an id', [key('', 1)]],
  ])('createSealer refuses %s', (_what, keys) => {
    expect(() => createSealer(keys)).toThrow(SealError);
  });
});
