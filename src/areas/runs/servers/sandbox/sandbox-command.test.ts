import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { gateMessage, sandboxCommand, sandboxOptions, type Inside, type SandboxPlan } from './sandbox-command.ts';

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

const FIRST = { optionsDescriptor: 8, infoDescriptor: 9 };
const WARM: Inside = { kind: 'warm', argv: ['bash', '-c', 'wait', 'arg'], script: 2 };
const textOf = (changes: Partial<SandboxPlan> = {}, inside: Inside = { kind: 'warm', argv: ['prog', 'arg'] }) =>
  sandboxCommand({ ...PLAN, ...changes }, inside).join(' ');

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
    const text = textOf({}, { kind: 'gated', argv: ['prog', 'arg'] });
    expect(text.indexOf('--reuid')).toBeLessThan(text.indexOf('cat <&3'));
    expect(text.endsWith('run prog arg')).toBe(true);
  });

  describe('without a shell as its first process', () => {
    const LIMITS = 'echo 0 >&5 || exit 1; exec 5>&-; ulimit -c 0; ulimit -u 64 2>/dev/null || ulimit -p 64; ';

    it('says nothing on its command line, which Runs can read, but who they are', () => {
      expect(textOf({ first: FIRST }, WARM)).toMatch(/^\/usr\/bin\/bwrap --args 8 -- \/usr\/bin\/setpriv --reuid 4711 /);
      const options = sandboxOptions({ ...PLAN, first: FIRST }).join(' ');
      expect(options).toContain('--info-fd 9');
      expect(options).not.toContain('--as-pid-1');
    });

    it.each<[string, Inside]>([
      ['a shell that waits limits itself before it does', WARM],
      ['so does the gate of a program that does not wait by itself', { kind: 'gated', argv: ['wait', 'arg'] }],
    ])('%s', (_name, inside) => {
      const text = textOf({ first: FIRST, cgroupDescriptors: [5] }, inside);
      expect(text.indexOf(LIMITS)).toBeGreaterThan(text.indexOf('--no-new-privs'));
      expect(text.indexOf(LIMITS)).toBeLessThan(text.indexOf('wait arg'));
    });
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
