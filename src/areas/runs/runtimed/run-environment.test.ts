import { describe, expect, it } from 'vitest';
import type { EnvVar, Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { runEnvironment } from './run-environment.ts';

const read = {
  secret: async (name: string) => (name === 'db' ? { password: 's3cret' } : undefined),
  configMap: async (name: string) => (name === 'app' ? { mode: 'fast' } : undefined),
};

function resolve(...env: EnvVar[]) {
  const run: Run = {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r', namespace: 'ns', uid: 'u', labels: { team: 'a' } },
    spec: { runtime: 'bash', mode: { task: {} }, env },
  };
  return runEnvironment(run, read);
}

describe('runEnvironment', () => {
  it.each<[string, EnvVar, Record<string, string>]>([
    ['a plain value', { name: 'A', value: 'b' }, { A: 'b' }],
    ['no value', { name: 'A' }, { A: '' }],
    ['of a Secret', { name: 'P', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } }, { P: 's3cret' }],
    ['of a ConfigMap', { name: 'M', valueFrom: { configMapKeyRef: { name: 'app', key: 'mode' } } }, { M: 'fast' }],
    ['optional and absent', { name: 'M', valueFrom: { configMapKeyRef: { name: 'none', key: 'mode', optional: true } } }, {}],
    ['a field', { name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }, { N: 'r' }],
    ['a label', { name: 'T', valueFrom: { fieldRef: { fieldPath: "metadata.labels['team']" } } }, { T: 'a' }],
  ])('%s', async (_name, variable, expected) => expect(await resolve(variable)).toEqual(expected));

  it.each<[string, EnvVar, string]>([
    ['a Secret that is not there', { name: 'P', valueFrom: { secretKeyRef: { name: 'no', key: 'k' } } }, 'Secret "no" not found'],
    [
      'a key that is not there',
      { name: 'P', valueFrom: { secretKeyRef: { name: 'db', key: 'k' } } },
      "couldn't find key k in Secret ns/db",
    ],
    ['a field that is not there', { name: 'P', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }, 'a Run has no field "spec.x"'],
    ['something else', { name: 'P', valueFrom: { resourceFieldRef: {} } }, 'this kind of valueFrom is not supported'],
  ])('refuses %s', (_name, variable, message) => expect(resolve(variable)).rejects.toThrow(message));
});
