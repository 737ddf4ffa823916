import { describe, expect, it } from 'vitest';
import { CommandError } from '../../../lib/run-command.ts';
import { networksUnable } from './network-ability.ts';

describe('networksUnable', () => {
  it('says nothing where the machine can', async () => {
    expect(await networksUnable('linux', () => Promise.resolve(''))).toBeUndefined();
  });

  it('says what the machine said, and what it takes', async () => {
    const refused = (): Promise<string> =>
      Promise.reject(new CommandError('unshare', 'status 1', 'unshare failed: Operation not permitted'));
    expect(await networksUnable('linux', refused)).toBe(
      'Cannot make networks of tenants with "linux": Cannot run "unshare": status 1: unshare failed: Operation not permitted; it takes root, ip, nft and nsenter',
    );
  });

  it('asks for the programs of OVN where they are needed', async () => {
    const scripts: string[] = [];
    const run = (_tool: string, _args: readonly string[], { input = '' } = {}): Promise<string> =>
      Promise.resolve((scripts.push(input), ''));
    await networksUnable('linux', run);
    await networksUnable('ovn', run);
    expect(scripts.map((script) => script.includes('ovn-northd'))).toEqual([false, true]);
  });
});
