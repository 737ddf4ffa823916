import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { resourceForFile, resourceForVariable } from './container-resource.ts';

const container: Json = {
  name: 'main',
  resources: {
    limits: { cpu: '1500m', memory: '100Mi', 'hugepages-2Mi': '4Mi' },
    requests: { cpu: '100m', memory: '64Mi', 'ephemeral-storage': '1Gi' },
  },
};
const plain: Json = { name: 'plain' };
const init: Json = { name: 'init' };
const allocatable = { cpu: '3920m', memory: '8Gi', 'ephemeral-storage': '20Gi' };

function aPod(spec: Json = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [container, plain], initContainers: [init], ...spec },
  };
}

const cases: [resource: string, divisor: string | undefined, value: string][] = [
  ['limits.cpu', undefined, '2'],
  ['limits.cpu', '0', '2'],
  ['limits.cpu', '1', '2'],
  ['limits.cpu', '1m', '1500'],
  ['limits.cpu', '100m', '15'],
  ['requests.cpu', undefined, '1'],
  ['limits.memory', undefined, '104857600'],
  ['limits.memory', '1Mi', '100'],
  ['limits.memory', '1G', '1'],
  ['requests.memory', '1Ki', '65536'],
  ['requests.ephemeral-storage', '1Mi', '1024'],
  ['limits.ephemeral-storage', '1Gi', '20'],
  ['limits.hugepages-2Mi', '1Mi', '4'],
  ['requests.hugepages-2Mi', undefined, '0'],
];

describe('resources of a container', () => {
  it.each(cases)('%s in %s', (resource, divisor, value) => {
    expect(resourceForVariable({ resource, divisor }, aPod(), container, allocatable)).toBe(value);
    expect(resourceForFile({ resource, divisor, containerName: 'main' }, aPod(), allocatable)).toBe(value);
  });

  it('a container without a limit may use what the node has', () => {
    expect(resourceForVariable({ resource: 'limits.cpu' }, aPod(), plain, allocatable)).toBe('4');
    expect(resourceForVariable({ resource: 'limits.memory', divisor: '1Gi', containerName: 'plain' }, aPod(), container, allocatable)).toBe(
      '8',
    );
    expect(resourceForFile({ resource: 'limits.memory', divisor: '1Gi', containerName: 'init' }, aPod(), allocatable)).toBe('8');
  });

  it('a container without a limit may use what its Pod may', () => {
    const pod = aPod({ resources: { limits: { memory: '2Gi', cpu: '0' } } });
    expect(resourceForVariable({ resource: 'limits.memory', divisor: '1Gi' }, pod, plain, allocatable)).toBe('2');
    expect(resourceForVariable({ resource: 'limits.cpu' }, pod, plain, allocatable)).toBe('4');
  });

  it('requests have no default, and init containers none that others see', () => {
    expect(resourceForVariable({ resource: 'requests.cpu' }, aPod(), plain, allocatable)).toBe('0');
    expect(resourceForVariable({ resource: 'limits.cpu', containerName: 'init' }, aPod(), container, allocatable)).toBe('0');
  });

  it.each([
    ['limits.pods', undefined, 'unsupported container resource : limits.pods'],
    ['cpu', undefined, 'unsupported container resource : cpu'],
    ['limits.cpu', 'absent', 'container absent not found'],
  ])('refuses %s of container %s', (resource, containerName, message) => {
    expect(() => resourceForVariable({ resource, containerName }, aPod(), container, allocatable)).toThrow(message);
  });
});
