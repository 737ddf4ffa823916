import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { memoryVolumeSize } from './memory-size.ts';

const Mi = 1024 * 1024;
const limited = (memory: string): Json => ({ resources: { limits: { memory } } });

describe('memoryVolumeSize', () => {
  const cases: [string, Json, string | undefined, number][] = [
    ['the node, when nothing is limited', { containers: [{}] }, undefined, 1024 * Mi],
    ['the limit of the volume', { containers: [{}] }, '64Mi', 64 * Mi],
    ['the node, when the volume may be larger', { containers: [{}] }, '4Gi', 1024 * Mi],
    ['a limit of zero is none', { containers: [{}] }, '0', 1024 * Mi],
    ['the sum of all containers', { containers: [limited('10Mi'), limited('20Mi')] }, undefined, 30 * Mi],
    [
      'the sum with sidecars',
      { initContainers: [{ restartPolicy: 'Always', ...limited('5Mi') }, {}], containers: [limited('10Mi')] },
      '64Mi',
      15 * Mi,
    ],
    ['no sum when one is unlimited', { containers: [limited('10Mi'), {}] }, undefined, 1024 * Mi],
    ['the limit of the Pod', { resources: { limits: { memory: '12Mi' } }, containers: [{}] }, undefined, 12 * Mi],
    ['the smallest of all', { containers: [limited('10Mi')] }, '5Mi', 5 * Mi],
  ];

  it.each(cases)('%s', (_, spec, sizeLimit, size) => {
    const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec };
    expect(memoryVolumeSize(pod, sizeLimit, { memory: '1Gi' })).toBe(size);
  });

  it('is open when nothing is known', () => {
    expect(memoryVolumeSize({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers: [{}] } }, undefined, {})).toBeUndefined();
  });
});
