import { describe, expect, it } from 'vitest';
import { parsePostmaster } from './postmaster-file.ts';

const lines = (status: string) => `4711\n/data\n1763230000\n54321\n/tmp\n127.0.0.1\n  123456   7\n${status}\n`;

describe('parsePostmaster', () => {
  it.each([
    ['a server that is ready', lines('ready   '), { pid: 4711, port: 54321, address: '127.0.0.1', isReady: true }],
    ['a server that starts', lines('starting'), { pid: 4711, port: 54321, address: '127.0.0.1', isReady: false }],
    ['a file that is being written', '4711\n/data\n', undefined],
    ['an empty file', '', undefined],
    ['a single-user server', lines('ready').replace('4711', '-4711'), undefined],
    ['something else', 'hello', undefined],
  ])('reads %s', (_, text, found) => {
    expect(parsePostmaster(text)).toEqual(found);
  });
});
