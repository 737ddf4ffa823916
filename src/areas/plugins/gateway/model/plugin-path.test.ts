import { expect, test } from 'vitest';
import { pluginPath } from './plugin-path.ts';

test.each([
  ['/school/hello', '/'],
  ['/school/hello/', '/'],
  ['/school/hello?x=1', '/?x=1'],
  ['/school/hello/a/b?x=/c', '/a/b?x=/c'],
  ['/school/hello//a/../../../b%2f', '//a/../../../b%2f'],
])('pluginPath of %s is %s of the plugin, as it came', (url, path) => {
  expect(pluginPath(url)).toEqual({ tenant: 'school', plugin: 'hello', prefix: '/school/hello', path });
});

test.each([
  '/',
  '/school',
  '/school/',
  '//hello/x',
  '/School/hello',
  '/school/%68ello',
  '/../school/hello',
  '*',
  'http://x/school/hello',
  '/-/x',
])('pluginPath of %s is none', (url) => {
  expect(pluginPath(url)).toBeUndefined();
});
