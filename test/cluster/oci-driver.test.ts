import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newUid } from '../../src/lib/ids.ts';
import { StreamText, textOf } from '../conformance/node-driver/stream-text.ts';
import { eventually } from '../integration/controllers/eventually.ts';
import { busyboxImage, busyboxLayer, unpackedLayer } from '../support/test-images.ts';
import { nodeTools } from './node-tools.ts';
import { containerSpec, makeOciNode, type OciNode } from './oci-driver-node.ts';

let node: OciNode;
beforeAll(async () => void (node = await makeOciNode()));
afterAll(() => node.dispose());

describe('what a container is made from', () => {
  test('the image gives command, folder, environment and user, when the Pod says nothing', async () => {
    const image = busyboxImage({
      entrypoint: ['sh', '-c'],
      cmd: ['pwd; echo $GREETING $HOSTNAME $HOME; id'],
      env: ['GREETING=hi'],
      workingDir: '/made/here',
      user: 'app',
    });
    const { output } = await node.script('', { image, command: undefined, hostname: 'web-0' });
    expect(output).toBe('/made/here\nhi web-0 /home/app\nuid=1000(app) gid=1000(app) groups=1000(app),2000(web)\n');
  });

  test('the Pod’s word stands over the image’s', async () => {
    const image = busyboxImage({ entrypoint: ['false'], env: ['A=image', 'B=image'], user: 'app', workingDir: '/srv' });
    const { output } = await node.script('pwd; echo $A $B; id -u; id -g; id -G', {
      image,
      env: { A: 'pod' },
      workingDir: '/tmp',
      user: { uid: 5000, gid: 6000, groups: [7000] },
    });
    expect(output).toBe('/tmp\npod image\n5000\n6000\n6000 7000\n');
  });

  test('upper layers cover lower ones, and what a container writes stays with it', async () => {
    const image = busyboxImage({}, [
      unpackedLayer([{ path: 'file', content: 'lower' }]),
      unpackedLayer([{ path: 'file', content: 'upper' }]),
    ]);
    const { output } = await node.script('cat /file; echo; echo changed > /file; cat /file', { image });
    expect(output).toBe('upper\nchanged\n');
    expect((await node.script('cat /file', { image })).output).toBe('upper\n');
  });

  test('an image with as many layers as there may be is mounted', async () => {
    const layers = Array.from({ length: 126 }, (_, index) => unpackedLayer([{ path: `layers/${index}`, content: '' }]));
    expect((await node.script('ls /layers | wc -l', { image: busyboxImage({}, layers) })).output).toBe('126\n');
  });

  test('the user is looked up in the image’s files and nowhere else, when those are links that climb out', async () => {
    const layer = unpackedLayer([
      { path: 'etc/passwd', link: '../../../../../../../../elsewhere/passwd' },
      { path: 'elsewhere/passwd', content: 'app:x:4321:4321::/:/bin/sh\n' },
    ]);
    expect((await node.script('id -u', { image: busyboxImage({ user: 'app' }, [layer]) })).output).toBe('4321\n');
  });

  test('volumes are mounted, inner ones over outer ones, read-only where they are', async () => {
    const volumes = mkdtempSync(join(tmpdir(), 'volumes-'));
    for (const name of ['outer', 'inner']) mkdirSync(join(volumes, name));
    writeFileSync(join(volumes, 'inner', 'file'), 'inner');
    writeFileSync(join(volumes, 'single'), 'single');
    const { output } = await node.script('cat /v/in/file /etc/single; echo x > /v/written; echo y > /v/in/file || echo refused', {
      mounts: [
        { source: join(volumes, 'inner'), target: '/v/in', readOnly: true },
        { source: join(volumes, 'outer'), target: '/v', readOnly: false },
        { source: join(volumes, 'single'), target: '/etc/single', readOnly: true },
      ],
    });
    expect(output).toContain('innersingle');
    expect(output).toContain('refused');
    expect(readFileSync(join(volumes, 'outer', 'written'), 'utf8')).toBe('x\n');
    rmSync(volumes, { recursive: true });
  });

  test('what is mounted below the machine’s folders cannot be changed through a built-in image either', async () => {
    const folder = '/usr/share/tenantry-test-mount';
    mkdirSync(folder);
    execFileSync('mount', ['-t', 'tmpfs', 'test', folder]);
    try {
      const fresh = await node.nextDriver();
      const image = { ...busyboxImage(), root: { builtIn: 'tools' } };
      const spec = containerSpec(node.folder.dir, {
        image,
        command: ['sh', '-c', `ls -d ${folder}; touch ${folder}/mark || echo refused`],
      });
      await fresh.prepareSandbox({ pod: spec.pod, limits: spec.limits });
      await fresh.start(spec);
      await fresh.ended(spec.id);
      expect(node.output(spec)).toContain(`${folder}\n`);
      expect(node.output(spec)).toContain('refused\n');
      await fresh.remove(spec.id);
    } finally {
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true });
    }
  });

  test('a built-in image sees the machine’s programs, cannot change them, and sees nothing else of it', async () => {
    const image = { ...busyboxImage(), root: { builtIn: 'tools' } };
    const script = `
      node -e 'console.log(1 + 1)'
      touch /usr/mark 2>/dev/null || echo cannot write
      cat /etc/shadow 2>/dev/null || echo no secrets
      ls ${node.folder.dir} 2>/dev/null || echo no data
      echo mine > /tmp/file && cat /tmp/file`;
    const { output } = await node.script(script, { image, limits: { memoryBytes: 256 << 20 } });
    expect(output).toBe('2\ncannot write\nno secrets\nno data\nmine\n');
  });
});

describe('what containers of a Pod share', () => {
  test('memory in /dev/shm and queues are the Pod’s, and nobody else’s', async () => {
    const pod = { namespace: 'test', name: 'shared', uid: newUid() };
    await node.script('echo here > /dev/shm/file; ipcmk -Q >/dev/null 2>&1; readlink /proc/self/ns/ipc > /dev/shm/ipc', {
      pod,
      name: 'first',
    });
    const second = await node.script('cat /dev/shm/file; [ $(cat /dev/shm/ipc) = $(readlink /proc/self/ns/ipc) ] && echo same', {
      pod,
      name: 'second',
    });
    expect(second.output).toBe('here\nsame\n');
    const other = await node.script('ls /dev/shm | wc -l; readlink /proc/self/ns/ipc');
    expect(other.output).toMatch(/^0\n/);
    expect(other.output).not.toContain(second.output);
  });

  test('the network namespace is joined, and its low ports are for everybody', async () => {
    await nodeTools('ip');
    const name = `tenantry-${newUid().slice(0, 8)}`;
    execFileSync('ip', ['netns', 'add', name]);
    try {
      const { output } = await node.script('ls /sys/class/net; cat /proc/sys/net/ipv4/ip_unprivileged_port_start', {
        networkNamespace: `/var/run/netns/${name}`,
        user: { uid: 1000 },
      });
      expect(output).toMatch(/^lo\n(.*\n)*0\n$/);
      expect(output).not.toContain('eth0');
    } finally {
      execFileSync('ip', ['netns', 'del', name]);
    }
  });
});

describe('containment', () => {
  test('a filter is on and root’s capabilities are the usual ones', async () => {
    const { output } = await node.script('grep -E "^(Seccomp|CapBnd|CapEff|NoNewPrivs):" /proc/self/status');
    expect(output).toBe('CapEff:\t00000000a80425fb\nCapBnd:\t00000000a80425fb\nNoNewPrivs:\t0\nSeccomp:\t2\n');
  });

  test('dropped capabilities are gone, and privileges cannot grow', async () => {
    const { output } = await node.script('grep -E "^(CapBnd|NoNewPrivs):" /proc/self/status; chown 1 /tmp || echo refused', {
      security: { dropCapabilities: ['ALL'], addCapabilities: ['NET_BIND_SERVICE'], allowPrivilegeEscalation: false },
    });
    expect(output).toContain('CapBnd:\t0000000000000400\nNoNewPrivs:\t1\n');
    expect(output).toContain('refused');
  });

  test('another user than root has no capabilities', async () => {
    const { output } = await node.script('id -u; grep CapEff /proc/self/status', { user: { uid: 1000, mustNotBeRoot: true } });
    expect(output).toBe('1000\nCapEff:\t0000000000000000\n');
  });

  test('calls that the filter forbids fail: namespaces and mounts', async () => {
    const { output } = await node.script('unshare -U true || echo no namespaces; mount -t tmpfs t /tmp || echo no mounts', {
      user: { uid: 1000 },
    });
    expect(output).toContain('no namespaces');
    expect(output).toContain('no mounts');
  });

  test('a read-only root cannot be written, its volumes can', async () => {
    const { output } = await node.script('echo x > /file || echo refused; echo x > /dev/shm/file && echo written', {
      security: { readOnlyRoot: true },
    });
    expect(output).toContain('refused\n');
    expect(output).toContain('written\n');
  });

  test('processes of others are not seen, and its own first one has number 1', async () => {
    const { output } = await node.script('echo $$; ls -d /proc/[0-9]* | wc -l');
    const [own, count] = output.trim().split('\n').map(Number);
    expect(own).toBe(1);
    expect(count).toBeLessThan(5);
  });

  test('the machine’s processes are seen, when asked for', async () => {
    const { output } = await node.script('ls -d /proc/[0-9]* | wc -l', { security: { hostPid: true } });
    expect(Number(output)).toBeGreaterThan(10);
  });

  test('a privileged container has the machine’s devices and no filter', async () => {
    const { output } = await node.script(
      'grep Seccomp: /proc/self/status; ls /dev/fuse /dev/loop-control 2>/dev/null; mount -t tmpfs t /mnt && echo mounted',
      {
        security: { privileged: true },
        image: busyboxImage({}, [unpackedLayer([{ path: 'mnt/.keep' }])]),
      },
    );
    expect(output).toContain('Seccomp:\t0\n');
    expect(output).toContain('mounted\n');
  });

  test('a filter of the node’s own is used, when the container names it', async () => {
    mkdirSync(join(node.folder.dir, 'seccomp'), { recursive: true });
    const profile = { defaultAction: 'SCMP_ACT_ALLOW', syscalls: [{ names: ['mkdir', 'mkdirat'], action: 'SCMP_ACT_ERRNO' }] };
    writeFileSync(join(node.folder.dir, 'seccomp', 'no-folders.json'), JSON.stringify(profile));
    const { output } = await node.script('mkdir /tmp/x || echo refused', {
      security: { seccomp: { type: 'Localhost', profile: 'no-folders.json' } },
    });
    expect(output).toContain('refused\n');
  });

  test('a container sees its own limits', async () => {
    const { output } = await node.script('cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max', {
      limits: { memoryBytes: 32 << 20 },
    });
    expect(output).toBe(`${32 << 20}\n`);
  });

  test('root of the machine dies after its containers, when memory is short', async () => {
    const ours = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
    const { output } = await node.script('cat /proc/self/oom_score_adj');
    expect(Number(output)).toBeGreaterThan(ours);
  });
});

describe('what can be done with a running container', () => {
  test('exec runs a command as the container’s user, in its folder, with its environment', async () => {
    const { id } = await node.run({ command: ['sleep', '1000'], env: { A: 'b' }, user: { uid: 1000 }, workingDir: '/home/app' });
    const streams = await node.driver.exec(id, {
      command: ['sh', '-c', 'id -u; pwd; echo $A; echo oops >&2; exit 5'],
      terminal: false,
      stdin: false,
    });
    const [out, err] = await Promise.all([textOf(streams.stdout), textOf(streams.stderr!)]);
    expect(out).toBe('1000\n/home/app\nb\n');
    expect(err).toBe('oops\n');
    expect(await streams.ended).toMatchObject({ exitCode: 5 });
    await node.driver.signal(id, 'SIGKILL');
  });

  test('exec gives input and a terminal of the size asked for', async () => {
    const { id } = await node.run({ command: ['sleep', '1000'] });
    const streams = await node.driver.exec(id, { command: ['sh'], terminal: true, stdin: true });
    streams.resize(123, 45);
    const screen = new StreamText(streams.stdout);
    await eventually(
      () => screen.text,
      (text) => text.includes('#'),
    );
    streams.stdin!.write('stty size; tty; exit 4\n');
    expect(await streams.ended).toMatchObject({ exitCode: 4 });
    expect(await screen.ended).toContain('45 123');
    expect(screen.text).toContain('/dev/pts/');
    await node.driver.signal(id, 'SIGKILL');
  });

  test('exec of a program that is not there is refused with the words of Kubernetes', async () => {
    const { id } = await node.run({ command: ['sleep', '1000'] });
    await expect(node.driver.exec(id, { command: ['nope'], terminal: false, stdin: false })).rejects.toMatchObject({
      reason: 'StartError',
      message: expect.stringContaining('exec: "nope": executable file not found in $PATH'),
    });
    await node.driver.signal(id, 'SIGKILL');
  });

  test('exec ends with whoever asked for it', async () => {
    const { id } = await node.run({ command: ['sleep', '1000'] });
    const streams = await node.driver.exec(id, { command: ['sleep', '4321'], terminal: false, stdin: false });
    const count = async (): Promise<number> => (await node.cgroups.processes(node.places.container(id).cgroup)).length;
    expect(await count()).toBe(2);
    streams.close();
    await eventually(count, (processes) => processes === 1);
    await node.driver.signal(id, 'SIGKILL');
  });

  test('a container with a terminal has one, and attach types into it', async () => {
    const spec = await node.run({ command: ['sh'], terminal: true, stdin: true });
    const streams = await node.driver.attach(spec.id);
    const screen = new StreamText(streams.stdout);
    streams.resize(90, 30);
    streams.stdin!.write('stty size; echo pid $$; exit 6\n');
    expect(await node.driver.ended(spec.id)).toMatchObject({ exitCode: 6 });
    expect(await screen.ended).toContain('30 90');
    expect(node.output(spec)).toContain('pid 1');
  });

  test('stats tell CPU time and memory', async () => {
    const { id } = await node.run({ command: ['sh', '-c', 'dd if=/dev/zero of=/dev/shm/x bs=1M count=8 2>/dev/null; sleep 1000'] });
    const stats = await eventually(
      () => node.driver.stats(id),
      (found) => (found?.memoryBytes ?? 0) > 8 << 20,
    );
    expect(stats!.cpuNanoseconds).toBeGreaterThan(1_000_000);
    expect(stats!.memoryBytes).toBeLessThan(64 << 20);
    await node.driver.signal(id, 'SIGKILL');
  });

  test('the next agent finds what runs and what has ended, and can end and remove it', async () => {
    const running = await node.run({ command: ['sleep', '1000'], attempt: 2 });
    const { spec: ended } = await node.script('exit 9');
    const next = await node.nextDriver();
    const listed = new Map((await next.list()).map((container) => [container.id, container]));
    expect(listed.get(running.id)).toMatchObject({ pod: running.pod, name: 'main', attempt: 2 });
    expect(listed.get(running.id)?.end).toBeUndefined();
    expect(listed.get(ended.id)?.end).toMatchObject({ exitCode: 9, oomKilled: false });
    // Started again after a crash of the agent: it is there already.
    expect((await next.start(running)).startedAt).toEqual(listed.get(running.id)?.startedAt);
    await next.signal(running.id, 'SIGKILL');
    expect(await next.ended(running.id)).toMatchObject({ exitCode: 137, signal: 'SIGKILL', oomKilled: false });
    for (const { id } of [running, ended]) await next.remove(id);
    for (const { id } of [running, ended]) await next.remove(id);
    expect((await next.list()).filter(({ id }) => id === running.id || id === ended.id)).toEqual([]);
  });
});

test('start takes little time', async () => {
  busyboxLayer();
  const times: number[] = [];
  for (let count = 0; count < 15; count++) {
    const before = performance.now();
    const { id } = await node.run({ command: ['sleep', '1000'] });
    times.push(performance.now() - before);
    await node.driver.signal(id, 'SIGKILL');
    await node.driver.ended(id);
    await node.driver.remove(id);
  }
  const median = times.sort((a, b) => a - b)[7];
  console.log(`sandbox and start: p50 ${median.toFixed(0)} ms, max ${times.at(-1)!.toFixed(0)} ms`);
  // The aim is 150 ms; the machine may be busy with something else.
  expect(median).toBeLessThan(600);
});
