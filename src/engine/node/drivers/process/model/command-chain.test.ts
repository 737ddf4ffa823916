import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandChain, dropPrivileges, enterSandbox, type Chain } from './command-chain.ts';
import { environmentScript } from './environment-script.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-chain-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function chainOf(command: string[], more: Partial<Chain> = {}): string[] {
  const environmentFile = join(folder, 'environment');
  writeFileSync(environmentFile, environmentScript({ PATH: '/usr/bin:/bin', 'dotted.name': 'x', GREETING: 'hello' }));
  return commandChain({
    environmentFile,
    cgroupFiles: [],
    tools: [],
    inner: { limits: {}, workingDir: '/usr', saysWhenReady: false, command },
    ...more,
  });
}

describe('commandChain', () => {
  it.each([
    ['without tools', [] as string[]],
    ['through tools', ['/usr/bin/env', 'LEAKED=1', '/usr/bin/nice']],
  ])('ends in the command, in its folder, with its environment and limits, %s', (_name, tools) => {
    const [program, ...rest] = chainOf(['/bin/sh', '-c', 'pwd; echo $GREETING; ulimit -c; [ -e /proc/self/fd/4 ] || echo closed'], {
      tools,
    });
    const text = execFileSync(program, rest, { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });
    expect(text).toBe('/usr\nhello\n0\nclosed\n');
  });

  it('passes arguments on as they are', () => {
    const args = ['a b', "it's", '$HOME', '', '--', '-n'];
    const [program, ...rest] = chainOf(['/usr/bin/printf', '%s\\n', ...args], { tools: ['/usr/bin/env'] });
    expect(execFileSync(program, rest, { encoding: 'utf8' })).toBe(`${args.join('\n')}\n`);
  });

  it('joins every cgroup it is told of, before anything else', () => {
    const cgroupFiles = ['a', 'b'].map((name) => join(folder, name));
    const [program, ...rest] = chainOf(['/bin/sh', '-c', 'echo $$'], { cgroupFiles });
    const pid = execFileSync(program, rest, { encoding: 'utf8' });
    expect(cgroupFiles.map((path) => readFileSync(path, 'utf8'))).toEqual([pid, pid]);
  });

  it('does not start the command when it cannot join or has no folder', () => {
    for (const more of [
      { cgroupFiles: [join(folder, 'no', 'cgroup.procs')] },
      { inner: { limits: {}, workingDir: '/nowhere', saysWhenReady: false, command: ['/bin/echo', 'ran'] } },
    ]) {
      const [program, ...rest] = chainOf(['/bin/echo', 'ran'], more);
      const { status, stdout } = spawnSync(program, rest, { encoding: 'utf8' });
      expect([status === 0, stdout]).toEqual([false, '']);
    }
  });
});

describe('tools of the chain', () => {
  it('dropPrivileges leaves no group and no capability', () => {
    expect(dropPrivileges('/setpriv', { uid: 5, gid: 6, groups: [] }).join(' ')).toBe(
      '/setpriv --reuid 5 --regid 6 --clear-groups --inh-caps -all --bounding-set -all --no-new-privs --',
    );
    expect(dropPrivileges('/setpriv', { uid: 5, gid: 6, groups: [7, 8] })).toContain('7,8');
  });

  it('enterSandbox enters the user namespace only where there is one', () => {
    expect(enterSandbox('/nsenter', 9, { ownUserNamespace: false, network: true })).not.toContain('--user');
    expect(enterSandbox('/nsenter', 9, { ownUserNamespace: true, network: false })).toContain('--preserve-credentials');
  });
});
