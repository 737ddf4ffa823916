import { spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPeer } from '../../src/areas/runs/servers/conformance/peer.ts';
import { IsolatedRuns } from './isolated-runs.ts';
import { nodeTools } from './node-tools.ts';

const SECRET = 'hunter2-of-another';
let runs: IsolatedRuns;
let victim: string;

beforeAll(async () => {
  await nodeTools('bwrap');
  runs = await IsolatedRuns.open('bash');
  victim = await runs.start(`echo ${SECRET} > secret; echo ready; sleep 300.125`, {
    id: 'victim',
    env: { PASSWORD: SECRET },
    timeoutMs: 0,
  });
  await runs.said(victim, 'ready');
});
afterAll(() => runs.close());

/** By the numbers of the machine. */
function processesOf(command: string): number[] {
  const { stdout } = spawnSync('pgrep', ['-xf', command], { encoding: 'utf8' });
  return stdout.trim().split('\n').filter(Boolean).map(Number);
}

const victimPids = () => processesOf('sleep 300.125');

/** A server as it is in a Pod: a process that can be killed. */
async function spawnedServer(workspace: string) {
  const args = ['dist/runtime-server.js', 'bash', '--isolation', 'process', '--host', '127.0.0.1', '--port', '0', '--work-dir', workspace];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve) =>
    child.stdout.on('data', (chunk: Buffer) => resolve(/:(\d+),/.exec(chunk.toString())![1])),
  );
  const peer = connectPeer(`127.0.0.1:${port}`, readFileSync(join(workspace, '.runtime-key'), 'utf8'));
  return {
    execute: (request: object) => peer.call('execute', request),
    kill: () => {
      peer.close();
      child.kill('SIGKILL');
    },
  };
}

describe('a Run in process isolation', () => {
  it('is a user of its own without any right, another one than the Run beside it', async () => {
    const identity = 'id -u; id -g; grep -E "^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):" /proc/self/status';
    const [one, other] = await Promise.all([runs.run(identity), runs.run(identity)]);
    const [uid, gid, ...rest] = one.stdout.trim().split('\n');
    expect(Number(uid)).toBeGreaterThan(65_536);
    expect(gid).toBe(uid);
    expect(other.stdout.split('\n')[0]).not.toBe(uid);
    const facts = Object.fromEntries(rest.map((line) => line.split(':').map((part) => part.trim())));
    const none = '0'.repeat(16);
    expect(facts).toEqual({ CapPrm: none, CapEff: none, CapBnd: none, CapAmb: none, NoNewPrivs: '1', Seccomp: '2' });
  });

  it('is in a cgroup of its own, and holds nothing open by which it was put there', async () => {
    const { stdout } = await runs.run(
      `for f in /proc/$$/fd/*; do readlink $f; done; grep -oE '/run-[0-9]+-[0-9]+$' /proc/self/cgroup | sort -u`,
    );
    const [cgroup, ...open] = stdout.trim().split('\n').toReversed();
    expect(cgroup).toMatch(/^\/run-/);
    expect(open.filter((file) => !/^(pipe:|\/dev\/null$)/.test(file))).toEqual([]);
  });

  it('sees no files but the system and its own', async () => {
    const { stdout } = await runs.run(
      `ls -A ${runs.workspace}; ls -A / | tr '\\n' ' '; cat ${runs.workspace}/*/secret 2>&1; ls /root /home /proc/1/root/root 2>&1`,
    );
    expect(stdout).not.toContain('victim');
    expect(stdout).not.toContain(SECRET);
    expect(stdout).toMatch(/^run-\d+\n/);
    expect(stdout).toContain('bin dev etc');
    const search = await runs.run(`grep -rl ${SECRET} / --exclude-dir=usr --exclude-dir=proc --exclude=script 2>/dev/null`);
    expect(search.stdout).toBe('');
  });

  it('cannot write to the system, nor to the folder that its own is in', async () => {
    const { stdout } = await runs.run(
      `for f in /x /usr/x /etc/x /dev/x /run/x ${runs.workspace}/x; do : > $f && echo wrote $f; done 2>/dev/null; echo done`,
    );
    expect(stdout).toBe('done\n');
  });

  it('sees no processes but its own, nor their environment and memory', async () => {
    const { stdout } = await runs.run(`
      ls /proc | grep -c '^[0-9]*$'
      cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c -e ${SECRET} -e POD_IP
      for p in ${victimPids().join(' ')}; do cat /proc/$p/environ /proc/$p/mem /proc/$p/maps 2>/dev/null | head -c 100; kill -9 $p 2>&1 | grep -v 'No such process'; done
      echo end`);
    const [count, leaks, ...rest] = stdout.trim().split('\n');
    expect(Number(count)).toBeLessThan(10);
    expect(leaks).toBe('0');
    expect(rest).toEqual(['end']);
    expect(victimPids().length).toBeGreaterThan(0);
  });

  it('cannot trace, or signal by group or to everybody, what is not its own', async () => {
    const before = victimPids();
    await runs.run('kill -9 -1; true');
    await runs.run('kill -TERM 0; true');
    expect(victimPids()).toEqual(before);
  });

  it('gets nothing of the environment of the server', async () => {
    const { stdout } = await runs.run('env; cat /proc/1/environ | tr "\\0" "\\n"');
    expect(stdout).not.toMatch(/VITEST|KUBERNETES|POD_|TENANTRY/);
  });

  it('its environment rules nothing before it is itself', async () => {
    // A library that would be loaded by whatever still has rights.
    const env = { LD_PRELOAD: `${runs.workspace}/preload/evil.so`, BASH_ENV: 'x', ENV: 'x', 'odd.name': 'odd' };
    const { stdout, stderr } = await runs.run('tr "\\0" "\\n" < /proc/1/environ; env', { id: 'preload', env });
    expect(stdout.split('\n').filter((line) => line.startsWith('LD_PRELOAD'))).toHaveLength(1);
    expect(stdout).toContain('odd.name=odd');
    expect(stderr).not.toContain('setpriv');
  });

  it('reaches neither the loopback of the machine nor anything else', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('here')).listen(0, '0.0.0.0');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const tryAll = `for h in 127.0.0.1 10.96.0.1 169.254.169.254 $(tail -1 /etc/hosts | cut -f1); do (exec 5<>/dev/tcp/$h/${port}) 2>/dev/null && echo reached $h; done; cat /proc/net/dev | wc -l; echo done`;
    const alone = await runs.run(tryAll);
    expect(alone.stdout).toBe('3\ndone\n');
    const allowed = await runs.run(tryAll, { network: true });
    expect(allowed.stdout).toContain('reached 127.0.0.1');
    server.close();
  });

  it('cannot make namespaces, mounts or keys', async () => {
    const { stdout } = await runs.run(
      'for c in "unshare -U true" "unshare -m true" "unshare -Ur mount -t tmpfs x /tmp" "mount -t tmpfs x /tmp" "nsenter -t 1 -m true" "chroot / true"; do $c 2>/dev/null && echo "can $c"; done; echo done',
    );
    expect(stdout).toBe('done\n');
    const python = await runs.run(`python3 - <<'P'
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, number, args in [("add_key", 248, (b"user", b"k", b"v", 1, -4)), ("bpf", 321, (0, 0, 0)), ("io_uring_setup", 425, (1, 0)), ("unshare", 272, (0x10000000,)), ("clone", 56, (0x10000000 | 17, 0, 0, 0, 0)), ("clone3", 435, (0, 0))]:
    result = libc.syscall(number, *args)
    print(name, result, ctypes.get_errno())
P`);
    expect(python.stdout).toBe('add_key -1 1\nbpf -1 1\nio_uring_setup -1 1\nunshare -1 1\nclone -1 1\nclone3 -1 38\n');
  });

  it('has a /tmp and a /dev/shm of its own, with an end', async () => {
    await runs.run('echo mine > /tmp/left; echo mine > /dev/shm/left');
    const { stdout, stderr } = await runs.run(
      'ls -A /tmp /dev/shm; head -c 64M /dev/zero > /tmp/full; stat -c %s /tmp/full; head -c 64M /dev/zero > /dev/shm/full',
    );
    expect(stdout).toBe(`/dev/shm:\n\n/tmp:\n${16 << 20}\n`);
    expect(stderr).toContain('No space left on device');
  });

  it('ends with all that it started, whatever they did to stay', async () => {
    const mark = '987654.5';
    const { stdout } = await runs.run(`
      setsid nohup sleep ${mark} > /dev/null 2>&1 < /dev/null &
      (trap '' TERM HUP INT; setsid bash -c 'exec 0<&- 1>&- 2>&-; (sleep ${mark} &) ; sleep ${mark}') &
      sleep 0.2; pgrep -xfc 'sleep ${mark}'`);
    expect(Number(stdout)).toBeGreaterThan(1);
    // Not polled for: when the end is told, they are gone.
    expect(processesOf(`sleep ${mark}`)).toEqual([]);
  });

  it('may breed, but not beyond its own limit', async () => {
    const bomb = await runs.start('f() { f | f & }; f; sleep 20', { timeoutMs: 3000 });
    const meanwhile = await runs.run('echo fine');
    expect(meanwhile.stdout).toBe('fine\n');
    expect(await runs.end(bomb)).toMatchObject({ error: 'timeout' });
  });

  it('that takes too much memory is the one that is killed', async () => {
    expect(runs.limits).toContain('limited');
    const hog = await runs.run(`python3 -c 'x = b"x" * (512 << 20); print(len(x))'; echo "code $?"`);
    expect(hog.stdout).toBe('code 137\n');
    const killed = await runs.run(`python3 -c 'x = b"x" * (512 << 20); print(len(x))'`);
    expect(killed).toMatchObject({ exitCode: 137, error: expect.stringMatching(/^out of memory: /) });
    expect(victimPids().length).toBeGreaterThan(0);
  });

  it('gets a moment to end when it is told to', async () => {
    const id = await runs.start('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done');
    await runs.said(id, 'up');
    const ended = runs.end(id);
    await runs.executions.cancel(id);
    expect(await ended).toMatchObject({ error: 'cancelled', stdout: 'up\nbye\n' });
  });

  it('its folder is there for others only when it has ended, and belongs to them again', async () => {
    const id = await runs.start('mkdir -p deep/er; echo v > deep/er/file; chmod 000 deep; echo k=v > outputs; echo up; sleep 0.5');
    await runs.said(id, 'up');
    expect(existsSync(runs.folder(id))).toBe(false);
    await runs.end(id);
    expect(readFileSync(join(runs.folder(id), 'outputs'), 'utf8')).toBe('k=v\n');
    for (const path of ['', 'deep', 'deep/er/file', 'outputs']) expect(lstatSync(join(runs.folder(id), path)).uid).toBe(process.getuid!());
  });

  it('links that it leaves lead nobody astray', async () => {
    const outside = join(runs.workspace, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'kept'), 'as it was', { mode: 0o640 });
    const [before, shadow] = [lstatSync(join(outside, 'kept')), lstatSync('/etc/shadow')];
    const id = await runs.start(
      `ln -s ${outside} out; ln -s ${outside}/kept outputs; mkdir d; ln -s /etc/shadow d/shadow; ln -s ${outside} d/out`,
    );
    expect((await runs.end(id)).succeeded).toBe(true);
    expect(readlinkSync(join(runs.folder(id), 'outputs'))).toBe(`${outside}/kept`);
    expect(lstatSync(join(outside, 'kept'))).toMatchObject({ uid: before.uid, mode: before.mode });
    expect(lstatSync('/etc/shadow')).toMatchObject({ uid: shadow.uid, mode: shadow.mode, ctimeMs: shadow.ctimeMs });
  });

  it('cannot put something else in the place of its folder', async () => {
    const id = await runs.start(`cd ..; mv run-* elsewhere 2>/dev/null; rm -rf run-* 2>/dev/null; ln -s /etc here; ls -A`);
    const { stdout } = await runs.end(id);
    expect(stdout).toBe(`${id}\n`);
    expect(lstatSync(runs.folder(id)).isDirectory()).toBe(true);
  });

  it('a server that was killed leaves nothing running, and the next one gives the folders back', async () => {
    const workspace = mkdtempSync('/mnt/tenantry-runs-');
    const server = await spawnedServer(workspace);
    mkdirSync(join(workspace, 'orphan'));
    await server.execute({
      id: 'orphan',
      args: ['echo data > kept; sleep 876543.5'],
      workingDir: join(workspace, 'orphan'),
      isolation: 'process',
    });
    await expect.poll(() => processesOf('sleep 876543.5').length).toBeGreaterThan(0);
    server.kill();
    await expect.poll(() => processesOf('sleep 876543.5')).toEqual([]);
    const next = await IsolatedRuns.open('bash', { workspace });
    expect(readFileSync(join(workspace, 'orphan/kept'), 'utf8')).toBe('data\n');
    await next.close();
  });

  it('leaves nothing behind on the machine', async () => {
    await runs.run('true');
    // What the system looks like and the filter; a slot for each that waits, and the next one.
    await expect.poll(() => readdirSync(join(runs.workspace, '.slots')).length).toBeLessThan(7);
    const groups = () => readdirSync('/sys/fs/cgroup/pids').filter((name) => name.startsWith(`run-${process.pid}-`)).length;
    await expect.poll(groups).toBeLessThan(6);
  });
});

describe.each([
  ['python', 'import os, sys\nprint(os.getuid() > 65536, os.listdir(".."), sys.argv[0])'],
  ['node', 'console.log(process.getuid() > 65536, JSON.stringify(require("fs").readdirSync("..")), process.argv[1])'],
] as const)('%s in process isolation', (language, script) => {
  it.each([0, 1])('runs in its sandbox with %d warm workers', async (warmWorkers) => {
    const own = await IsolatedRuns.open(language, { warmWorkers });
    const { stdout, stderr } = await own.run(script, { id: 'alone' });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^(T|t)rue \[['"]alone['"]\] .*\/alone\/script\n$/);
    await own.close();
  });
});
