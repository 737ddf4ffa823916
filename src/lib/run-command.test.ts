import { describe, expect, it } from 'vitest';
import { CommandError, runCommand } from './run-command.ts';

describe('runCommand', () => {
  it('gives the tool its input and environment, and us its output', async () => {
    expect(await runCommand('sh', ['-c', 'cat; echo "$NAME"'], { input: 'one ', env: { NAME: 'two' } })).toBe('one two\n');
  });

  it('says what the tool said when it fails', async () => {
    const failed = runCommand('sh', ['-c', 'echo why >&2; exit 3']);
    await expect(failed).rejects.toBeInstanceOf(CommandError);
    await expect(failed).rejects.toThrow('status 3: why');
  });

  it('does not stumble over a tool that reads nothing', async () => {
    expect(await runCommand('true', [], { input: 'x'.repeat(1_000_000) })).toBe('');
  });

  it('rejects when there is no such tool', async () => {
    await expect(runCommand('no-such-tool-here', [])).rejects.toThrow('ENOENT');
  });
});
