import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseOutputs, readOutputs } from './outputs.ts';

describe('parseOutputs', () => {
  it.each<[string, string, unknown]>([
    ['nothing', '', {}],
    ['pairs, trimmed', ' a = b c \nd=\n', { outputs: { a: 'b c', d: '' } }],
    ['comments and blank lines', '# x=y\n\na=1', { outputs: { a: '1' } }],
    ['the last of the same key', 'a=1\na=2', { outputs: { a: '2' } }],
    ['a value with an equals sign', 'a=b=c', { outputs: { a: 'b=c' } }],
    ['a key that JavaScript knows', '__proto__=x\nconstructor=y', { outputs: JSON.parse('{"__proto__":"x","constructor":"y"}') }],
    ['a line that is none', 'a=1\nwhat', { reason: 'OutputsInvalid', message: 'line 2 of the outputs file is not KEY=VALUE' }],
    ['no key', '=x', { reason: 'OutputsInvalid', message: 'line 1 of the outputs file is not KEY=VALUE' }],
    ['a long key', `${'k'.repeat(129)}=1`, { reason: 'OutputsTooLarge', message: 'the key on line 1 has more than 128 bytes' }],
    ['a long value', `k=${'v'.repeat(8193)}`, { reason: 'OutputsTooLarge', message: 'the value of "k" has more than 8192 bytes' }],
    [
      'many keys',
      Array.from({ length: 65 }, (_, i) => `k${i}=1`).join('\n'),
      { reason: 'OutputsTooLarge', message: 'there are more than 64 outputs' },
    ],
  ])('%s', (_name, text, expected) => expect(parseOutputs(Buffer.from(text))).toEqual(expected));

  it('bytes that are no text', () => {
    expect(parseOutputs(Buffer.from([0x61, 0x3d, 0xff]))).toMatchObject({ reason: 'OutputsInvalid' });
  });
});

describe('readOutputs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-outputs-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);

  it('a file that is not there has no outputs', async () => expect(await readOutputs(folder, ['none'])).toEqual({}));

  it('a large file is not read to its end', async () => {
    writeFileSync(at('large'), Buffer.alloc(10 << 20));
    expect(await readOutputs(folder, ['large'])).toMatchObject({ reason: 'OutputsTooLarge' });
  });

  it('a link is not followed', async () => {
    symlinkSync('/etc/passwd', at('link'));
    expect(await readOutputs(folder, ['link'])).toMatchObject({ reason: 'OutputsInvalid' });
  });

  it('a link in the place of a folder above is not followed either', async () => {
    mkdirSync(at('other'));
    writeFileSync(at('other/outputs'), 'stolen=yes');
    mkdirSync(at('run'));
    symlinkSync('../other', at('run/repo'));
    expect(await readOutputs(folder, ['run', 'repo', 'outputs'])).toMatchObject({ reason: 'OutputsInvalid' });
    expect(await readOutputs(folder, ['other', 'outputs'])).toEqual({ outputs: { stolen: 'yes' } });
  });

  it('a pipe or a folder is no outputs file', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    expect(await readOutputs(folder, ['pipe'])).toMatchObject({ reason: 'OutputsInvalid' });
    expect(await readOutputs(folder, ['.'])).toMatchObject({ reason: 'OutputsInvalid' });
  });
});
