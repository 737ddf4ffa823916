import { expect, it } from 'vitest';
import type { RunSpec } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { neededBy } from './run-copy.ts';

const from = (name: string, valueFrom: object) => ({ name, valueFrom });

it.each<[string, Partial<RunSpec>, string[]]>([
  ['nothing', {}, []],
  ['values of its own', { env: [{ name: 'A', value: 'b' }] }, []],
  [
    'Secrets and ConfigMaps, each once',
    {
      env: [
        from('A', { secretKeyRef: { name: 's', key: 'a' } }),
        from('B', { secretKeyRef: { name: 's', key: 'b' } }),
        from('C', { configMapKeyRef: { name: 'c', key: 'c' } }),
      ],
    },
    ['secrets s', 'configmaps c'],
  ],
  ['a repository', { source: { repoURL: 'x', credentialsSecretName: 'git' } }, ['secrets git']],
])('a Run with %s', (_, spec, needs) => {
  const all = { runtime: 'bash', mode: {}, ...spec } as RunSpec;
  expect(neededBy(all).map(({ plural, name }) => `${plural} ${name}`)).toEqual(needs);
});
