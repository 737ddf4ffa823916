import { describe, expect, it } from 'vitest';
import { parseNodePath } from './node-path.ts';

describe('parseNodePath', () => {
  it.each([
    ['/containerLogs/ns/pod/c', { kind: 'logs', target: { namespace: 'ns', name: 'pod', container: 'c' } }],
    ['/exec/ns/pod/c', { kind: 'exec', target: { namespace: 'ns', name: 'pod', container: 'c' } }],
    ['/exec/ns/pod/uid/c', { kind: 'exec', target: { namespace: 'ns', name: 'pod', uid: 'uid', container: 'c' } }],
    ['/attach/ns/pod/c', { kind: 'attach', target: { namespace: 'ns', name: 'pod', container: 'c' } }],
    ['/portForward/ns/pod', { kind: 'portForward', target: { namespace: 'ns', name: 'pod' } }],
    ['/portForward/ns/pod/uid', { kind: 'portForward', target: { namespace: 'ns', name: 'pod', uid: 'uid' } }],
    ['/stats/summary', { kind: 'summary' }],
    ['/stats/summary/', { kind: 'summary' }],
    ['/metrics/resource', { kind: 'resourceMetrics' }],
    ['/pods', { kind: 'pods' }],
    ['/healthz', { kind: 'healthz' }],
  ])('%s', (path, expected) => {
    expect(parseNodePath(path)).toEqual(expected);
  });

  it.each([
    '/',
    '/run/ns/pod/c',
    '/exec/ns/pod',
    '/exec/ns//c',
    '/exec/ns/pod/u/c/x',
    '/containerLogs/ns/pod/u/c',
    '/exec/ns/%zz/c',
    '/__proto__',
  ])('%s is not served', (path) => {
    expect(parseNodePath(path)).toBeUndefined();
  });
});
