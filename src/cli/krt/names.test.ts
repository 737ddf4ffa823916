import { expect, it } from 'vitest';
import { nameFlags } from './names.ts';

it.each([
  ['nothing typed', [], {}],
  ['a namespace', ['logs', '-n', 'shop'], { namespace: 'shop' }],
  ['joined by an equals sign', ['--namespace=shop', '--kubeconfig=/a=b'], { namespace: 'shop', kubeconfig: '/a=b' }],
  ['an option that has no value yet', ['logs', '--context'], {}],
  ['options of other meanings', ['run', '--env', 'A=1', '--as', 'eve'], { as: 'eve' }],
])('nameFlags of %s', (_name, words, expected) => {
  expect(nameFlags(words)).toEqual(expected);
});
