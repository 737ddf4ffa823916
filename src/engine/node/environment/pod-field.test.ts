import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { podField, podFieldForVariable } from './pod-field.ts';

const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u1',
    labels: { tier: 'front', 'a.b/c': 'd' },
    annotations: { 'z/Upper': 'two\nlines', quoted: 'say "hi"\t\\ ü \u0001' },
  },
  spec: { nodeName: 'n1', serviceAccountName: 'robot' },
};
const addresses = { podIp: '10.1.0.7', hostIp: '192.168.1.1' };

describe('podField', () => {
  it.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'shop'],
    ['metadata.uid', 'u1'],
    ['metadata.labels', 'a.b/c="d"\ntier="front"'],
    ['metadata.annotations', 'quoted="say \\"hi\\"\\t\\\\ ü \\x01"\nz/Upper="two\\nlines"'],
    ["metadata.labels['tier']", 'front'],
    ["metadata.labels['a.b/c']", 'd'],
    ["metadata.labels['absent']", ''],
    ["metadata.labels['constructor']", ''],
    ["metadata.annotations['z/Upper']", 'two\nlines'],
  ])('%s', (path, value) => {
    expect(podField(pod, path)).toBe(value);
  });

  it('is empty for maps that are not there', () => {
    expect(podField({ ...pod, metadata: {} }, 'metadata.labels')).toBe('');
  });

  it.each([
    ['spec.nodeName', 'unsupported fieldPath: spec.nodeName'],
    ["spec.x['a']", `fieldPath "spec.x['a']" does not support subscript`],
    ["metadata.labels['']", "invalid key subscript in metadata.labels['']: "],
    ["['a']", "unsupported fieldPath: ['a']"],
  ])('refuses %s', (path, message) => {
    expect(() => podField(pod, path)).toThrow(message);
  });
});

describe('podFieldForVariable', () => {
  it.each([
    ['spec.nodeName', 'n1'],
    ['spec.host', 'n1'],
    ['spec.serviceAccountName', 'robot'],
    ['status.hostIP', '192.168.1.1'],
    ['status.hostIPs', '192.168.1.1'],
    ['status.podIP', '10.1.0.7'],
    ['status.podIPs', '10.1.0.7'],
    ['metadata.name', 'web'],
    ["metadata.labels['tier']", 'front'],
  ])('%s', (path, value) => {
    expect(podFieldForVariable(pod, path, addresses)).toBe(value);
  });

  it.each([
    ['status.startTime', 'field label not supported: status.startTime'],
    ["spec.nodeName['a']", "field label does not support subscript: spec.nodeName['a']"],
    ['spec.restartPolicy', 'unsupported fieldPath: spec.restartPolicy'],
  ])('refuses %s', (path, message) => {
    expect(() => podFieldForVariable(pod, path, addresses)).toThrow(message);
  });
});
