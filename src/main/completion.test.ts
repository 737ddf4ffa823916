import { execFileSync } from 'node:child_process';
import { Argument, Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { completionScript } from './completion.ts';

const program = new Command('tool');
program.command('up').addOption(new Option('--level <level>', 'how much').choices(['low', 'high']));
const image = program.command('image').description('look after images').option('--data <dir>', 'where');
image.command('list').description('say what is there');
image.command('load').argument('<file>').option('--name <name>', 'its name');
image
  .command('layer')
  .command('show')
  .addArgument(new Argument('<which>').choices(['top', 'bottom']));

function complete(...words: string[]): string {
  const script = 'source <(printf %s "$SCRIPT"); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tool_completion; echo "${COMPREPLY[*]}"';
  const env = { ...process.env, SCRIPT: completionScript('bash', program) };
  return execFileSync('bash', ['-c', script, 'bash', 'tool', ...words], { env, encoding: 'utf8' }).trim();
}

test.each([
  ['commands', [''], 'up image help'],
  ['commands inside of a command', ['image', 'l'], 'list load layer'],
  ['commands at any depth', ['image', 'layer', ''], 'show'],
  ['options of a command inside of a command', ['image', 'load', '--'], '--name'],
  ['options of the outer command', ['image', '--'], '--data'],
  ['values of an option', ['up', '--level', ''], 'low high'],
  ['values of an argument', ['image', 'layer', 'show', 'b'], 'bottom'],
  ['nothing for an argument that has the name of a command', ['image', 'list', 'load', ''], ''],
])('completion gives %s', (_name, words, expected) => {
  expect(complete(...words)).toBe(expected);
});

test.each(['zsh', 'fish'])('completion for %s names commands inside of commands', (shell) => {
  const script = completionScript(shell, program);
  for (const word of ['list', 'load', 'show', 'bottom', 'say what is there']) expect(script).toContain(word);
});
