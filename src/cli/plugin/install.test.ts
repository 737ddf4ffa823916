import { expect, test } from 'vitest';
import { parsePlugin } from './install.ts';
import { isSettled } from './wait-for-installation.ts';

test.each([
  ['acme/hello', { publisher: 'acme', plugin: 'hello' }],
  ['acme/hello-world@1.2.0-rc.1+b', { publisher: 'acme', plugin: 'hello-world', version: '1.2.0-rc.1+b' }],
])('parsePlugin reads %s', (text, expected) => {
  expect(parsePlugin(text)).toEqual(expected);
});

test.each(['hello', 'acme/', '/hello', 'acme/hello/x', 'Acme/hello', 'acme/hello@'])('parsePlugin refuses %s', (text) => {
  expect(() => parsePlugin(text)).toThrow(`Cannot install "${text}": it is no plugin; write publisher/plugin`);
});

test.each([
  ['settled when it is ready', { observedGeneration: 2, phase: 'ACTIVE', conditions: [{ type: 'Ready', status: 'True' }] }, true],
  ['settled when it failed', { observedGeneration: 2, phase: 'FAILED' }, true],
  ['not while it is under way', { observedGeneration: 2, phase: 'INSTALLING', conditions: [{ type: 'Ready', status: 'False' }] }, false],
  [
    'not while what it says is of before',
    { observedGeneration: 1, phase: 'ACTIVE', conditions: [{ type: 'Ready', status: 'True' }] },
    false,
  ],
])('an installation is %s', (_, status, expected) => {
  expect(isSettled({ metadata: { generation: 2 }, status } as never)).toBe(expected);
});
