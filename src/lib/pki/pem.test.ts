import { describe, expect, it } from 'vitest';
import { certificateBlocks, parsePem, toPem } from './pem.ts';

const A = toPem('A', Buffer.from('one'));
const B = toPem('B', Buffer.from('two'));
const found = (text: string) => parsePem(text).map(({ label, der }) => `${label}:${der.toString()}`);

describe('parsePem', () => {
  it.each([
    { name: 'nothing', text: '', blocks: [] },
    { name: 'blocks with words around them', text: `x\n${A}y\n${B}z`, blocks: ['A:one', 'B:two'] },
    { name: 'lines that end as those of Windows', text: A.replaceAll('\n', '\r\n'), blocks: ['A:one'] },
    { name: 'one that does not end, before one that does', text: `-----BEGIN A-----\n${B}`, blocks: ['B:two'] },
    { name: 'an end before any beginning', text: `-----END A-----\n${A}`, blocks: ['A:one'] },
    { name: 'what is no base64', text: `-----BEGIN A-----\n!\n-----END A-----\n${B}`, blocks: ['B:two'] },
    { name: 'a beginning inside of another, which is part of it', text: `-----BEGIN A-----\n${B}-----END A-----\n`, blocks: [] },
  ])('finds $name', ({ text, blocks }) => expect(found(text)).toEqual(blocks));

  it('says where a block is', () => {
    const [{ start, end }] = parsePem(`x\n${A}y`);
    expect([start, end]).toEqual([2, 2 + A.length]);
  });

  it('takes no time that grows with the square of the text', () => {
    const label = (index: number) => index.toString(36).toUpperCase();
    const begins = Array.from({ length: 60_000 }, (_, index) => `-----BEGIN ${label(index)}-----\n`).join('');
    // Half a minute and more, if each beginning looks for its end in all of the text.
    expect(parsePem(begins + begins.replaceAll('BEGIN', 'BEGIN A'))).toEqual([]);
  }, 10_000);
});

describe('certificateBlocks', () => {
  // What it stands for, in time that grows with the square of a text of beginnings.
  const pattern = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
  const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

  it.each([
    ['nothing', ''],
    ['words around them, and others than certificates', `x${begin}a${end}y${A}${begin}\nb\n${end}`],
    ['one that does not end', `${begin}a${end}${begin}b`],
    ['an end before any beginning', `${end}${begin}a${end}`],
    ['a beginning inside of another', `${begin}${begin}a${end}${end}`],
    ['nothing between beginning and end', `${begin}${end}a${end}${begin}${end}`],
  ])('finds the same: %s', (_name, text) => expect(certificateBlocks(text)).toEqual(text.match(pattern) ?? []));

  it('takes no time that grows with the square of the text', () => {
    expect(certificateBlocks(begin.repeat(60_000))).toEqual([]);
  }, 10_000);
});
