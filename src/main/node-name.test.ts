import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../lib/log.ts';
import { nodeName } from './node-name.ts';

let data: string;
beforeEach(() => void (data = mkdtempSync(join(tmpdir(), 'tenantry-name-'))));
afterEach(() => rmSync(data, { recursive: true }));

const named = (hostname: string, given?: string): Promise<string> => nodeName({ data, given, hostname, log: silentLog });

test('a node has the name of its machine, and keeps it when the machine gets another', async () => {
  expect(await named('first')).toBe('first');
  expect(await named('second')).toBe('first');
});

test('a node has the name that the user gives it, from then on', async () => {
  expect(await named('first')).toBe('first');
  expect(await named('first', 'given')).toBe('given');
  expect(await named('first')).toBe('given');
});

test('a node whose name was spoilt on the disk has that of its machine', async () => {
  await named('first');
  writeFileSync(join(data, 'node', 'name'), 'Not A Name');
  expect(await named('second')).toBe('second');
  expect(readFileSync(join(data, 'node', 'name'), 'utf8')).toBe('second\n');
});

test.each([
  ['My_Laptop', 'my-laptop'],
  ['_host_.Example.com.', 'host.example.com'],
  ['---', 'node'],
])('a machine called %s has the node %s', async (hostname, expected) => {
  expect(await named(hostname)).toBe(expected);
});
