import { describe, expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { validateBuiltin, warnings } from './index.ts';

const POD = { group: '', kind: 'Pod' };

function pod(spec: Json): KubeObject {
  const container = { name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always', ...spec.container };
  const { container: _, ...rest } = spec;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', terminationGracePeriodSeconds: 30, containers: [container], ...rest },
  };
}

describe('a body full of mistakes', () => {
  test('is answered with the first thousand', () => {
    const env = Array.from({ length: 50_000 }, () => ({ name: '' }));
    expect(validateBuiltin(POD, pod({ container: { env } }))).toHaveLength(1000);
  });

  test('is answered with a megabyte at most, when each finding prints the whole list', () => {
    const scopes = Array.from({ length: 50_000 }, (_, i) => `scope-${i}`);
    const quota: KubeObject = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { scopes } };
    const found = validateBuiltin({ group: '', kind: 'ResourceQuota' }, quota);
    expect(found.length).toBeLessThan(4);
  });

  test('does not drown in advice on ports that are all the same', () => {
    const ports = Array.from({ length: 2000 }, () => ({ containerPort: 80, protocol: 'TCP' }));
    expect(warnings(POD, pod({ container: { ports } })).length).toBeLessThanOrEqual(20 * 2000);
  });
});

describe('keys that every JavaScript object has', () => {
  test('are not found in maps that do not have them', () => {
    const configMap: KubeObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c' },
      data: { constructor: 'x', toString: 'y' },
      binaryData: { a: '' },
    };
    expect(validateBuiltin({ group: '', kind: 'ConfigMap' }, configMap)).toEqual([]);
  });

  test('are resources without limits like any other', () => {
    const found = validateBuiltin(POD, pod({ container: { resources: { limits: {}, requests: { 'example.com/constructor': '1' } } } }));
    expect(found.map((f) => f.message)).toEqual(['Required value: Limit must be set for non overcommitable resources']);
  });

  test('are noticed when they are new', () => {
    const old = pod({});
    const next = pod({ nodeSelector: { constructor: 'x' } });
    expect(validateBuiltin(POD, next, old)).toHaveLength(1);
  });
});
