import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import type { ObjectChange, ObjectReader } from '../registry/objects.ts';
import { ServiceAllocator } from './service-allocator.ts';

function service(clusterIP: string, nodePort?: number): KubeObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec: { clusterIPs: [clusterIP], ports: [{ port: 80, nodePort }] } };
}

function readerOf(services: KubeObject[]): { reader: ObjectReader; change: (change: ObjectChange) => void } {
  let listener: ((change: ObjectChange) => void) | undefined;
  const reader = {
    get: () => undefined,
    list: () => services,
    onChange(_resource: unknown, heard: (change: ObjectChange) => void) {
      listener = heard;
      return () => (listener = undefined);
    },
  } as unknown as ObjectReader;
  return { reader, change: (change) => listener?.(change) };
}

describe('ServiceAllocator', () => {
  test('gives every address once, the fixed ones last', () => {
    const allocator = new ServiceAllocator({ clusterIpRange: '10.0.0.0/27' });
    const given = new Set(Array.from({ length: 30 }, () => allocator.nextAddress()));
    expect(given.size).toBe(30);
    expect(() => allocator.nextAddress()).toThrow('range is full');
  });

  test('prefers addresses that nobody asks for by hand', () => {
    const allocator = new ServiceAllocator({ clusterIpRange: '10.0.0.0/24', random: () => 0 });
    expect(allocator.nextAddress()).toBe('10.0.0.17');
  });

  test('takes back what a refused Service held, after a while', () => {
    let now = 0;
    const allocator = new ServiceAllocator({ now: () => now });
    allocator.takeAddress('10.0.0.5');
    expect(() => allocator.takeAddress('10.0.0.5')).toThrow('provided IP is already allocated');
    now = 60_000;
    expect(() => allocator.takeAddress('10.0.0.5')).not.toThrow();
  });

  test('knows the stored Services after a start', () => {
    const allocator = new ServiceAllocator();
    allocator.follow(readerOf([service('10.0.0.5', 30_001)]).reader);
    expect(() => allocator.takeAddress('10.0.0.5')).toThrow('provided IP is already allocated');
    expect(() => allocator.takePort(30_001)).toThrow('provided port is already allocated');
  });

  test('follows changes and deletions', () => {
    const allocator = new ServiceAllocator();
    const { reader, change } = readerOf([]);
    allocator.follow(reader);
    const first = service('10.0.0.5', 30_001);
    change({ type: 'ADDED', object: first });
    expect(() => allocator.takePort(30_001)).toThrow('provided port is already allocated');
    change({ type: 'MODIFIED', object: service('10.0.0.5'), previous: first });
    expect(() => allocator.takePort(30_001)).not.toThrow();
    change({ type: 'DELETED', object: service('10.0.0.5'), previous: service('10.0.0.5') });
    expect(() => allocator.takeAddress('10.0.0.5')).not.toThrow();
  });

  test('refuses a range that is none', () => {
    expect(() => new ServiceAllocator({ clusterIpRange: 'ten' })).toThrow('Cannot give Services addresses of "ten"');
  });
});
