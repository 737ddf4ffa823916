import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LANGUAGES, programOf, type LanguageName } from './language.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-language-'));
const workingDir = join(folder, 'work');
mkdirSync(workingDir);
writeFileSync(join(folder, 'secret'), 'x');
writeFileSync(join(workingDir, 'main.sh'), 'true');
symlinkSync(join(folder, 'secret'), join(workingDir, 'link'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('programOf', () => {
  const cases: [string, LanguageName, string, string[], unknown][] = [
    ['a file with arguments', 'bash', 'main.sh', ['a'], { file: join(workingDir, 'main.sh'), args: ['a'] }],
    ['one argument is a command', 'bash', '', ['echo hi'], { code: 'echo hi' }],
    ['several are the lines of a script', 'bash', '', ['a=1', 'echo $a'], { code: 'a=1\necho $a' }],
    ['a shell that is named is run as it is', 'bash', '', ['sh', '-c', 'true'], { argv: ['sh', '-c', 'true'] }],
    ['nothing to run', 'bash', '', [], { failure: 'no args or script provided' }],
    ['an interpreter gets its arguments', 'python', '', ['-m', 'json.tool'], { argv: ['python3', '-m', 'json.tool'] }],
    ['code behind its flag', 'python', '', ['-c', 'print(1)'], { code: 'print(1)' }],
    ['a lone text is code', 'node', '', ['1+1'], { code: '1+1' }],
    [
      'a file that is not there',
      'bash',
      'no.sh',
      [],
      { failure: 'Cannot run "no.sh": no such file in the working directory; check the entrypoint' },
    ],
    [
      'a way out',
      'bash',
      '../secret',
      [],
      { failure: 'Cannot run "../secret": it leads out of the working directory; name a file inside it' },
    ],
    [
      'a link that leads out',
      'bash',
      'link',
      [],
      { failure: 'Cannot run "link": it leads out of the working directory; name a file inside it' },
    ],
    [
      'an absolute path',
      'bash',
      '/etc/passwd',
      [],
      { failure: 'Cannot run "/etc/passwd": it leads out of the working directory; name a file inside it' },
    ],
  ];
  it.each(cases)('%s', (_name, language, entrypoint, args, expected) => {
    expect(programOf(LANGUAGES[language], { workingDir, entrypoint, args })).toEqual(expected);
  });
});

describe('commandLine', () => {
  it.each<[LanguageName, Parameters<(typeof LANGUAGES)['bash']['commandLine']>[0], string[]]>([
    ['bash', { code: 'true' }, ['bash', '-c', 'true']],
    ['bash', { file: '/w/s', args: ['1'] }, ['bash', '/w/s', '1']],
    ['python', { code: 'pass' }, ['python3', '-c', 'pass']],
    ['node', { file: '/w/s', args: [] }, ['node', '/w/s']],
  ])('%s %j', (language, program, expected) => expect(LANGUAGES[language].commandLine(program)).toEqual(expected));
});
