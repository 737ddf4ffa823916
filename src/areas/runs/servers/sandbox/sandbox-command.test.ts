import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { gateMessage, sandboxCommand, type SandboxPlan } from './sandbox-command.ts';

const PLAN: SandboxPlan = {
  bwrap: '/usr/bin/bwrap',
  user: { kind: 'own', setpriv: '/usr/bin/setpriv', uid: 4711 },
  network: false,
  system: [
    { kind: 'shown', path: '/usr' },
    { kind: 'link', path: '/bin', to: 'usr/bin' },
    { kind: 'shown', path: '/etc/ssl/certs' },
  ],
  slotFolder: '/workspace/.slots/7',
  workspace: '/workspace',
  temporaryBytes: 1000,
  processes: 64,
  cgroupDescriptors: [],
};

const textOf = (changes: Partial<SandboxPlan> = {}, gated = false) =>
  sandboxCommand({ ...PLAN, ...changes }, ['prog', 'arg'], gated).join(' ');

describe('sandboxCommand', () => {
  it.each<[string, Partial<SandboxPlan>, string[], string[]]>([
    [
      'everything of its own',
      {},
      ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--die-with-parent'],
      ['--unshare-user'],
    ],
    ['the network of the Pod, when allowed', { network: true }, ['--unshare-pid'], ['--unshare-net']],
    ['a user of its own', {}, ['setpriv --reuid 4711 --regid 4711 --clear-groups', '--bounding-set=-all --no-new-privs'], []],
    [
      'a user namespace where it cannot be another user',
      { user: { kind: 'namespace' } },
      ['--unshare-user', '--cap-drop ALL'],
      ['setpriv', '--cap-add'],
    ],
    ['its folder and no other', {}, ['--bind /workspace/.slots/7 /workspace'], ['--bind /workspace /workspace']],
    ['folders above what is shown, open to it', {}, ['--dir /etc', '--dir /etc/ssl'], ['--dir /usr ']],
    ['a filter, when there is one', { filterDescriptor: 4 }, ['--seccomp 4'], []],
    ['bounded folders for what is temporary', {}, ['--size 1000 --tmpfs /tmp', '--size 1000 --tmpfs /dev/shm'], []],
  ])('%s', (_name, changes, present, absent) => {
    const text = textOf(changes);
    for (const part of present) expect(text).toContain(part);
    for (const part of absent) expect(text).not.toContain(part);
  });

  it('joins its cgroups, and lets go of them, before it is anybody', () => {
    const text = textOf({ cgroupDescriptors: [5, 6] });
    const joined = text.indexOf('-c echo 0 >&5 || exit 1; exec 5>&-; echo 0 >&6 || exit 1; exec 6>&-; ulimit');
    expect(joined).toBeGreaterThan(text.indexOf('/usr/bin/bwrap'));
    expect(joined).toBeLessThan(text.indexOf('--reuid'));
  });

  it('becomes its user before it reads anything of the Run', () => {
    const text = textOf({}, true);
    expect(text.indexOf('--reuid')).toBeLessThan(text.indexOf('cat <&3'));
    expect(text.endsWith('run prog arg')).toBe(true);
  });
});

describe('gateMessage', () => {
  it('makes the environment exactly, whatever is in it', () => {
    const env = { A: `it's "$HOME" \`x\` \n\t`, 'odd.name': 'v w', EMPTY: '' };
    const script = `${gateMessage('/', env)}\nexec "$@"`;
    const { stdout } = spawnSync('/bin/sh', ['-c', script, 'x', process.execPath, '-p', 'JSON.stringify([process.cwd(), process.env])'], {
      env: { PATH: '/usr/bin:/bin' },
      encoding: 'utf8',
    });
    const [folder, seen] = JSON.parse(stdout) as [string, Record<string, string>];
    expect(folder).toBe('/');
    expect(seen).toMatchObject(env);
  });
});
