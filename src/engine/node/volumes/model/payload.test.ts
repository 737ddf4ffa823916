import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { aggregate, configMapFiles, downwardFiles, secretFiles, type Files } from './payload.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const configMap: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {},
  data: { a: 'ä', b: '2' },
  binaryData: { bin: Buffer.from([0, 255, 1]).toString('base64') },
};
const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: {}, data: { a: base64('ä'), b: base64('2') } };

function shown(files: Files): Record<string, string> {
  return Object.fromEntries([...files].map(([path, { data, mode }]) => [path, `${data.toString('latin1')} ${mode.toString(8)}`]));
}

const UMLAUT = Buffer.from('ä').toString('latin1');

describe('configMapFiles', () => {
  it('takes every key, bytes as bytes', () => {
    expect(shown(configMapFiles({}, configMap, 0o600))).toEqual({ a: `${UMLAUT} 600`, b: '2 600', bin: '\x00\xff\x01 600' });
  });

  it('takes the keys that are asked for, under their paths and modes', () => {
    const items = [
      { key: 'b', path: 'x/y', mode: 0o400 },
      { key: 'bin', path: 'z' },
    ];
    expect(shown(configMapFiles({ items }, configMap, 0o644))).toEqual({ 'x/y': '2 400', z: '\x00\xff\x01 644' });
  });

  it('refuses a key that is not there unless it is optional', () => {
    const items = [
      { key: 'no', path: 'x' },
      { key: 'b', path: 'b' },
    ];
    expect(() => configMapFiles({ items }, configMap, 0o644)).toThrow('configmap references non-existent config key: no');
    expect(shown(configMapFiles({ items, optional: true }, configMap, 0o644))).toEqual({ b: '2 644' });
  });

  it('is empty for an optional one that is not there', () => {
    expect(shown(configMapFiles({ items: [{ key: 'a', path: 'a' }], optional: true }, undefined, 0o644))).toEqual({});
  });
});

describe('secretFiles', () => {
  it('decodes', () => {
    expect(shown(secretFiles({}, secret, 0o644))).toEqual({ a: `${UMLAUT} 644`, b: '2 644' });
  });

  it('refuses a key that is not there unless it is optional', () => {
    const items = [{ key: 'no', path: 'x' }];
    expect(() => secretFiles({ items }, secret, 0o644)).toThrow('references non-existent secret key: no');
    expect(shown(secretFiles({ items, optional: true }, secret, 0o644))).toEqual({});
  });
});

describe('downwardFiles', () => {
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', labels: { b: '2', a: '1' } },
    spec: { containers: [{ name: 'main', resources: { limits: { memory: '10Mi' } } }] },
  };
  const field = (path: string, fieldPath: string, mode?: number): Json => ({ path, mode, fieldRef: { fieldPath } });
  const resource = (path: string, name: string, divisor?: string): Json => ({
    path,
    resourceFieldRef: { containerName: 'main', resource: name, divisor },
  });

  it('writes fields and resources', () => {
    const items = [
      field('name', 'metadata.name', 0o400),
      field('labels', 'metadata.labels'),
      resource('mem', 'limits.memory', '1Mi'),
      resource('cpu', 'limits.cpu'),
    ];
    expect(shown(downwardFiles(items, pod, { cpu: '2' }, 0o644))).toEqual({
      name: 'web 400',
      labels: 'a="1"\nb="2" 644',
      mem: '10 644',
      cpu: '2 644',
    });
  });

  it('says all that is wrong', () => {
    const items = [field('x', 'spec.nodeName'), resource('y', 'limits.gpu')];
    expect(() => downwardFiles(items, pod, {}, 0o644)).toThrow(
      '[unsupported fieldPath: spec.nodeName, unsupported container resource : limits.gpu]',
    );
  });
});

describe('aggregate', () => {
  it('prints one as it is, several in brackets, the same once', () => {
    expect([aggregate(['a']), aggregate(['a', 'b', 'a'])]).toEqual(['a', '[a, b]']);
  });
});
