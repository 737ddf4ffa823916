import { describe, expect, it } from 'vitest';
import { CommandShell } from './command-shell.ts';
import { CommandError } from '../../../../lib/run-command.ts';

/** Without root, the only namespace that can be entered is none: the shell runs where we are. */
const make = (): CommandShell => new CommandShell(undefined);

describe('CommandShell', () => {
  it('runs tools one after the other and gives each its input', async () => {
    const shell = make();
    expect(await Promise.all(['one', 'two $HOME `x` \\n', ''].map((text) => shell.run('cat', text)))).toEqual([
      'one\n',
      'two $HOME `x` \\n\n',
      '\n',
    ]);
    shell.stop();
  });

  it('tells what a tool said when it fails, and goes on', async () => {
    const shell = make();
    const failed = shell.run('ls /nowhere/at/all', '');
    const next = shell.run('cat', 'fine');
    await expect(failed).rejects.toBeInstanceOf(CommandError);
    await expect(failed).rejects.toThrow('/nowhere/at/all');
    expect(await next).toBe('fine\n');
    shell.stop();
  });

  it('starts again when it was killed', async () => {
    const shell = make();
    await expect(shell.run('kill -9 $$', '')).rejects.toThrow('the shell of the router ended');
    expect(await shell.run('cat', 'back')).toBe('back\n');
    shell.stop();
  });

  it('takes input of any length', async () => {
    const shell = make();
    const long = 'x'.repeat(200_000);
    expect(await shell.run('cat', long)).toBe(long);
    shell.stop();
    expect(await shell.run('cat', 'after the end')).toBe('after the end');
  });
});
