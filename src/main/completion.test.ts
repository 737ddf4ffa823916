import { execFileSync } from 'node:child_process';
import { Argument, Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { completionScript } from './completion.ts';

const program = new Command('tool');
program.command('up').addOption(new Option('--level <level>', 'how much').choices(['low', 'high']));
const image = program.command('image').description('look after images').option('--data <dir>', 'where');
image.command('list').description('say what is there');
image.command('load').argument('<file>').option('--name <name>', 'its name');
program.command('logs').argument('<run>').option('-r, --runtime <runtime>', 'which').option('--phase <phase>', 'when');
program.command('__names', { hidden: true });
image
  .command('layer')
  .command('show')
  .addArgument(new Argument('<which>').choices(['top', 'bottom']));

function complete(...words: string[]): string {
  const script =
    'names() { echo "$1-of-$#" "$1-b"; }; source <(printf %s "$SCRIPT"); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tool_completion; echo "${COMPREPLY[*]}"';
  const env = { ...process.env, SCRIPT: completionScript('bash', program, 'names') };
  return execFileSync('bash', ['-c', script, 'bash', 'tool', ...words], { env, encoding: 'utf8' }).trim();
}

test.each([
  ['commands', [''], 'up image logs help'],
  ['commands inside of a command', ['image', 'l'], 'list load layer'],
  ['commands at any depth', ['image', 'layer', ''], 'show'],
  ['options of a command inside of a command', ['image', 'load', '--'], '--name'],
  ['options of the outer command', ['image', '--'], '--data'],
  ['values of an option', ['up', '--level', ''], 'low high'],
  ['values of an argument', ['image', 'layer', 'show', 'b'], 'bottom'],
  ['names of objects, which the cluster is asked for with what was typed', ['logs', '-r', 'x', 'runs-o'], 'runs-of-5'],
  ['names of objects for an option', ['logs', '-r', ''], 'runtimes-of-4 runtimes-b'],
  ['options where one is begun, without asking', ['logs', '--'], '--runtime --phase'],
  ['words of the API', ['logs', '--phase', 'Su'], 'Succeeded'],
  ['nothing for an argument that has the name of a command', ['image', 'list', 'load', ''], ''],
])('completion gives %s', (_name, words, expected) => {
  expect(complete(...words)).toBe(expected);
});

test.each(['zsh', 'fish'])('completion for %s names commands inside of commands', (shell) => {
  const script = completionScript(shell, program, 'names');
  for (const word of ['list', 'load', 'show', 'bottom', 'say what is there', 'names runs']) expect(script).toContain(word);
});
