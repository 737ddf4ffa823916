import { describe, expect, it } from 'vitest';
import { isOfTheWorld, onlyTheWorld } from './only-the-world.ts';

describe('isOfTheWorld', () => {
  it.each([
    ['93.184.216.34', true],
    ['2606:2800:220:1::1', true],
    ['127.0.0.1', false],
    ['10.1.2.3', false],
    ['100.64.0.2', false],
    ['169.254.169.254', false],
    ['172.31.0.1', false],
    ['192.168.1.1', false],
    ['0.0.0.0', false],
    ['::1', false],
    ['::ffff:127.0.0.1', false],
    ['::ffff:93.184.216.34', true],
    ['64:ff9b::7f00:1', false],
    ['fd00::1', false],
    ['fe80::1', false],
    ['203.0.113.7', false],
  ])('%s: %s', (address, expected) => {
    expect(isOfTheWorld(address, ['203.0.113.7'])).toBe(expected);
  });
});

describe('onlyTheWorld', () => {
  const options = onlyTheWorld(() => []);

  it('refuses addresses of the machine before anything is connected', () => {
    expect(() => options('127.0.0.1')).toThrow('address 127.0.0.1 not allowed: it is not of the world');
  });

  it('refuses names by what they mean', async () => {
    const { lookup } = options('localhost');
    const error = await new Promise<Error | null>((resolve) => lookup('localhost', {}, (found) => resolve(found)));
    expect(error?.message).toContain('not allowed');
  });
});
