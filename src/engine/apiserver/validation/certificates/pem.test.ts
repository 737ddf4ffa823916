import { describe, expect, test } from 'vitest';
import { pemBlocks } from './pem.ts';

const block = (type: string, body: string): string => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;

describe('pemBlocks', () => {
  const cases: [name: string, text: string, types: string[]][] = [
    ['finds blocks among other text', `hello\n${block('A', 'AAAA')}between\n${block('B C', 'AAAA')}`, ['A', 'B C']],
    ['passes over a block that ends as another', '-----BEGIN A-----\nAAAA\n-----END B-----\n', []],
    ['passes over a block that is not base64', block('A', '!!!!'), []],
    ['finds the block inside an unfinished one', `-----BEGIN A-----\n${block('B', 'AAAA')}`, ['B']],
    ['finds nothing in nothing', '', []],
  ];
  test.each(cases)('%s', (_name, text, types) => {
    expect(pemBlocks(text).map((b) => b.type)).toEqual(types);
  });

  test('says whether there are headers', () => {
    expect(pemBlocks(block('A', 'X: y\n\nAAAA'))[0]).toMatchObject({ headers: true, bytes: Buffer.from('AAAA', 'base64') });
  });

  test('reads text full of beginnings once', () => {
    expect(pemBlocks('-----BEGIN A-----\n'.repeat(100_000) + '-----END B-----')).toEqual([]);
  });
});
