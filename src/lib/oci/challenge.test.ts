import { describe, expect, test } from 'vitest';
import { parseChallenges } from './challenge.ts';

describe('parseChallenges', () => {
  test.each<[string, [string, Record<string, string>][]]>([
    ['Basic realm="Registry"', [['basic', { realm: 'Registry' }]]],
    [
      'Bearer realm="https://auth.example/token",service="r.io",scope="repository:a/b:pull,push"',
      [['bearer', { realm: 'https://auth.example/token', service: 'r.io', scope: 'repository:a/b:pull,push' }]],
    ],
    [
      'Bearer Realm=x , service="a \\"b\\"", Basic realm="c"',
      [
        ['bearer', { realm: 'x', service: 'a "b"' }],
        ['basic', { realm: 'c' }],
      ],
    ],
    [
      'Negotiate, Basic realm="x"',
      [
        ['negotiate', {}],
        ['basic', { realm: 'x' }],
      ],
    ],
    ['', []],
    [',,,', []],
    ['Bearer realm="unfinished', [['bearer', { realm: '"unfinished' }]]],
    ['=oops', []],
  ])('%s', (header, expected) => {
    expect(parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)])).toEqual(expected);
  });
});
