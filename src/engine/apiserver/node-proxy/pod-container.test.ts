import { describe, expect, it } from 'vitest';
import { chooseContainer } from './pod-container.ts';

function pod(containers: string[], more: Record<string, string[]> = {}) {
  const named = (names: string[]) => names.map((name) => ({ name }));
  const others = Object.fromEntries(Object.entries(more).map(([field, names]) => [field, named(names)]));
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: named(containers), ...others } };
}

describe('chooseContainer', () => {
  it.each([
    ['the only one', pod(['a']), '', 'a'],
    ['the only one beside one that prepares', pod(['a'], { initContainers: ['i'] }), '', 'a'],
    ['the one named', pod(['a', 'b']), 'b', 'b'],
    ['one that prepares', pod(['a'], { initContainers: ['i'] }), 'i', 'i'],
    ['one added for debugging', pod(['a'], { ephemeralContainers: ['e'] }), 'e', 'e'],
  ])('is %s', (_, object, asked, expected) => {
    expect(chooseContainer(object, asked)).toBe(expected);
  });

  it.each([
    [
      'none is named of several',
      pod(['a', 'b'], { initContainers: ['i'] }),
      '',
      'a container name must be specified for pod p, choose one of: [i a b]',
    ],
    ['there is none', pod([]), '', 'a container name must be specified for pod p'],
    ['it is not there', pod(['a']), 'x', 'container x is not valid for pod p'],
  ])('refuses when %s', (_, object, asked, message) => {
    expect(() => chooseContainer(object, asked)).toThrow(message);
  });
});
