import { describe, expect, test } from 'vitest';
import { builtinResources } from '../resources.ts';
import type { Json } from '../../../../kube/object.ts';

const resources = builtinResources();

function decode(resource: string, object: Json, onUnknown?: (path: string) => void): Json {
  const found = resources.find((candidate) => candidate.resource === resource)!;
  return found.strategy.decode(object, found.version, onUnknown);
}

describe('decode brings objects to their canonical form', () => {
  const cases: [name: string, resource: string, object: Json, expected: Json][] = [
    ['empty maps and lists are dropped', 'configmaps', { data: {}, binaryData: null }, {}],
    ['zero values are dropped where Go omits them', 'secrets', { data: { a: '' }, type: '' }, { data: { a: '' }, type: 'Opaque' }],
    ['pointers keep their zero', 'configmaps', { immutable: false }, { immutable: false }],
    ['what Go never omits is there', 'roles', {}, { rules: null }],
    ['maps are sorted', 'configmaps', { data: { b: '1', a: '2' } }, { data: { a: '2', b: '1' } }],
    [
      'times are in UTC',
      'configmaps',
      { metadata: { creationTimestamp: '2024-01-01T01:00:00+01:00' } },
      { metadata: { creationTimestamp: '2024-01-01T00:00:00Z' } },
    ],
    [
      'quantities are canonical',
      'limitranges',
      { spec: { limits: [{ type: 'Pod', max: { cpu: '0.5', memory: '1024Mi' } }] } },
      { spec: { limits: [{ type: 'Pod', max: { cpu: '500m', memory: '1Gi' } }] } },
    ],
    [
      'a null in a list of texts is an empty text',
      'configmaps',
      { metadata: { finalizers: [null, 'a'] } },
      { metadata: { finalizers: ['', 'a'] } },
    ],
    ['line breaks in base64 are dropped', 'secrets', { data: { a: 'YWJj\nZGVm' } }, { data: { a: 'YWJjZGVm' }, type: 'Opaque' }],
    ['stringData becomes data', 'secrets', { stringData: { a: 'b' } }, { data: { a: 'Yg==' }, type: 'Opaque' }],
  ];
  test.each(cases)('%s', (_name, resource, object, expected) => {
    expect(decode(resource, object)).toEqual({ metadata: {}, ...expected });
  });

  test('fields stand in the order of the kind, whatever order they came in', () => {
    const decoded = decode('configmaps', {
      data: { a: 'b' },
      metadata: { labels: {}, name: 'x' },
      immutable: true,
      apiVersion: 'v1',
      kind: 'ConfigMap',
    });
    expect(JSON.stringify(decoded)).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"immutable":true,"data":{"a":"b"}}',
    );
  });

  test('decoding what was decoded changes nothing, defaults that need others included', () => {
    const job = decode('jobs', { metadata: { name: 'x' }, spec: { template: { spec: { containers: [{ name: 'a', image: 'b' }] } } } });
    expect(JSON.stringify(decode('jobs', job))).toBe(JSON.stringify(job));
  });

  test('an input that is frozen is left alone', () => {
    const input = Object.freeze({ metadata: Object.freeze({ name: 'x' }), stringData: Object.freeze({ a: 'b' }) });
    expect(decode('secrets', input).data).toEqual({ a: 'Yg==' });
  });

  test('a key named __proto__ stays a key', () => {
    const decoded = decode('configmaps', { data: JSON.parse('{"__proto__":"x","a":"b"}') });
    expect(Object.keys(decoded.data)).toEqual(['__proto__', 'a']);
  });
});

describe('decode refuses wrong types in the words of Go', () => {
  const cases: [object: Json, message: string][] = [
    [{ spec: { replicas: '3' } }, 'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32'],
    [{ spec: { replicas: 1.5 } }, 'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32'],
    [{ spec: [] }, 'json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec'],
    [{ metadata: { labels: { a: true } } }, 'json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string'],
    [{ metadata: { creationTimestamp: 'now' } }, 'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"'],
    ['text', 'json: cannot unmarshal string into Go value of type v1.Deployment'],
  ];
  test.each(cases)('%j', (object, message) => {
    expect(() => decode('deployments', object)).toThrow(`Deployment in version "v1" cannot be handled as a Deployment: ${message}`);
  });
});

test('decode names every unknown field, those inside lists and maps included', () => {
  const found: string[] = [];
  decode('pods', { spec: { containers: [{ name: 'a', img: 'b' }, { nam: 1 }], overhead: { cpu: '1' } }, sepc: {} }, (path) =>
    found.push(path),
  );
  expect(found).toEqual(['spec.containers[0].img', 'spec.containers[1].nam', 'sepc']);
});

test('decode drops unknown fields when nobody asks', () => {
  expect(decode('configmaps', { metadata: { name: 'x', nme: 'y' }, date: {} })).toEqual({ metadata: { name: 'x' } });
});
