import { describe, expect, test } from 'vitest';
import { semanticEqual } from './equality.ts';
import { internalForm } from './internal-form.ts';

describe('internalForm', () => {
  test('has the names and zero values of Go, with maps in order', () => {
    expect(JSON.stringify(internalForm('ResourceRequirements', { requests: { memory: '1', cpu: '2' } }))).toBe(
      '{"Limits":null,"Requests":{"cpu":"2","memory":"1"},"Claims":null}',
    );
  });

  test('leaves out what metav1 types leave out', () => {
    expect(internalForm('LabelSelector', { matchLabels: { a: 'b' } })).toEqual({ matchLabels: { a: 'b' } });
  });

  test('puts the namespaces of the host where Go has them', () => {
    expect(internalForm('PodSpec', { hostNetwork: true }).SecurityContext).toMatchObject({ HostNetwork: true, HostPID: false });
  });
});

describe('semanticEqual', () => {
  const cases: [name: string, a: object, b: object, equal: boolean][] = [
    ['a false flag is an absent one', { hostNetwork: false }, {}, true],
    ['a false pointer is not', { automountServiceAccountToken: false }, {}, false],
    ['an empty list is an absent one', { volumes: [] }, {}, true],
    ['an empty map is an absent one', { nodeSelector: {} }, {}, true],
    ['amounts are compared as such', { overhead: { cpu: '1000m' } }, { overhead: { cpu: '1' } }, true],
    ['other text is not', { nodeSelector: { a: '1000m' } }, { nodeSelector: { a: '1' } }, false],
  ];
  test.each(cases)('%s', (_name, a, b, equal) => {
    expect(semanticEqual('PodSpec', a, b)).toBe(equal);
  });
});
