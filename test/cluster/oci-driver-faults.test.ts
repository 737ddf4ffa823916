import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ContainerSpec, Driver } from '../../src/engine/node/drivers/driver.ts';
import { textOf } from '../conformance/node-driver/stream-text.ts';
import { eventually } from '../integration/controllers/eventually.ts';
import { busyboxImage } from '../support/test-images.ts';
import { kernelLeftovers, makeOciNode, type ContainerRequest, type OciNode } from './oci-driver-node.ts';

let node: OciNode;
beforeAll(async () => void (node = await makeOciNode()));
afterAll(() => node.dispose());

const FILL_MEMORY = 'x=0123456789abcdef; while :; do x=$x$x; done';
const processesOf = (spec: ContainerSpec): Promise<number[]> => node.cgroups.processes(node.places.container(spec.id).cgroup);
const mounts = (): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(node.folder.dir));

/** A shim that was killed may take one more connection before it is gone. */
async function cleanUpOf(driver: Driver, live: string[]): Promise<void> {
  const tried = (): Promise<boolean> =>
    driver.cleanUp(new Set(live)).then(
      () => true,
      () => false,
    );
  await eventually(tried, Boolean);
}

async function startFails(request: ContainerRequest, expected: object): Promise<void> {
  const before = { mounts: mounts().length, containers: containersOnDisk() };
  await expect(node.run(request)).rejects.toMatchObject(expected);
  // Of the Pod, /dev/shm and the namespace of queues stay; of the container nothing.
  expect(mounts().filter((line) => line.includes('/containers/')).length).toBeLessThanOrEqual(before.mounts);
  expect(containersOnDisk()).toEqual(before.containers);
}

function containersOnDisk(): string[] {
  return existsSync(node.places.containers) ? readdirSync(node.places.containers).sort() : [];
}

describe('start is refused with Kubernetes’ own reason and leaves nothing, when', () => {
  test('the program is not there', () =>
    startFails(
      { command: ['nope'] },
      { reason: 'StartError', exitCode: 128, message: expect.stringContaining('exec: "nope": executable file not found in $PATH') },
    ));

  test('the program is not executable', () =>
    startFails(
      { command: ['/etc/passwd'] },
      { reason: 'StartError', exitCode: 128, message: expect.stringContaining('permission denied') },
    ));

  test('the container may not be root and the image is', () =>
    startFails(
      { user: { mustNotBeRoot: true } },
      { reason: 'CreateContainerConfigError', message: expect.stringContaining('container has runAsNonRoot and image will run as root') },
    ));

  test('the image’s user does not exist', () =>
    startFails(
      { image: busyboxImage({ user: 'ghost' }) },
      { reason: 'CreateContainerError', message: 'unable to find user ghost: no matching entries in passwd file' },
    ));

  test('there is no command', () =>
    startFails({ image: busyboxImage({ cmd: [] }) }, { reason: 'CreateContainerError', message: 'no command specified' }));

  test('the profile is not there', () =>
    startFails(
      { security: { seccomp: { type: 'Localhost', profile: 'absent.json' } } },
      { reason: 'CreateContainerError', message: expect.stringContaining('cannot load seccomp profile') },
    ));

  test('a layer is gone', () =>
    startFails({ image: { ...busyboxImage(), root: { layers: ['/nowhere/layer'] } } }, { reason: 'CreateContainerError' }));

  test('a volume is gone', () =>
    startFails(
      { mounts: [{ source: '/nowhere/volume', target: '/v', readOnly: false }] },
      { reason: 'StartError', message: expect.stringContaining('/nowhere/volume') },
    ));

  test('a container with a terminal cannot run its program', () =>
    startFails(
      { command: ['nope'], terminal: true, stdin: true },
      { reason: 'StartError', message: expect.stringContaining('executable file not found') },
    ));

  test('there is not even memory to begin with', () =>
    startFails({ command: ['true'], limits: { memoryBytes: 64 << 10 } }, { reason: 'StartError' }));
});

describe('out of memory', () => {
  test('a container that takes too much is OOMKilled', async () => {
    const { end } = await node.script(FILL_MEMORY, { limits: { memoryBytes: 16 << 20 } });
    expect(end).toMatchObject({ exitCode: 137, oomKilled: true });
  });

  test('a container is OOMKilled, when a child of its first process took too much', async () => {
    const { end, spec } = await node.script(`sh -c '${FILL_MEMORY}'; exit $?`, { limits: { memoryBytes: 16 << 20 } });
    expect(end).toMatchObject({ exitCode: 137, oomKilled: true });
    // The next agent learns it too.
    const listed = (await (await node.nextDriver()).list()).find(({ id }) => id === spec.id);
    expect(listed?.end).toMatchObject({ oomKilled: true });
  });

  test('a container that was killed by hand is not OOMKilled', async () => {
    const spec = await node.run({ command: ['sleep', '1000'] });
    await node.driver.signal(spec.id, 'SIGKILL');
    expect(await node.driver.ended(spec.id)).toMatchObject({ exitCode: 137, oomKilled: false });
  });
});

describe('containers that will not behave', () => {
  test('a fork bomb stops at its limit while others live, and can be killed', async () => {
    const other = await node.run({ command: ['sleep', '1000'] });
    // Only an interactive shell goes on after it could not fork.
    const command = ['sh', '-c', 'yes "sleep 1000 &" | sh -i >/dev/null 2>&1'];
    const bomb = await node.run({ command, limits: { pids: 40, cpuMillis: 500 } });
    await vi.waitFor(async () => expect((await processesOf(bomb)).length).toBe(40), { timeout: 20_000 });
    for (let look = 0; look < 20; look++) expect((await processesOf(bomb)).length).toBeLessThanOrEqual(40);
    const streams = await node.driver.exec(other.id, { command: ['echo', 'alive'], terminal: false, stdin: false });
    expect(await textOf(streams.stdout)).toBe('alive\n');
    await node.driver.signal(bomb.id, 'SIGKILL');
    expect(await node.driver.ended(bomb.id)).toMatchObject({ exitCode: 137, oomKilled: false });
    expect(await processesOf(bomb)).toEqual([]);
    await node.driver.remove(bomb.id);
    await node.driver.signal(other.id, 'SIGKILL');
  });

  test('a container that ignores SIGTERM ends with SIGKILL, its children too', async () => {
    const spec = await node.run({ command: ['sh', '-c', 'trap "echo ignored" TERM; sleep 1000 & while :; do sleep 0.05; done'] });
    await eventually(
      () => processesOf(spec),
      (found) => found.length >= 2,
    );
    await node.driver.signal(spec.id, 'SIGTERM');
    await eventually(
      () => node.output(spec),
      (text) => text.includes('ignored'),
    );
    await node.driver.signal(spec.id, 'SIGKILL');
    expect(await node.driver.ended(spec.id)).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
    expect(await processesOf(spec)).toEqual([]);
  });

  test('a container that is killed while it makes processes has the exit code of SIGKILL', async () => {
    for (let count = 0; count < 5; count++) {
      const spec = await node.run({ command: ['sh', '-c', 'while :; do /bin/true; done'] });
      await node.driver.signal(spec.id, 'SIGKILL');
      expect(await node.driver.ended(spec.id)).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
    }
  });

  test('a container that shares the machine’s processes takes all of its own with it', async () => {
    const spec = await node.run({ command: ['sh', '-c', 'setsid sleep 4321 & exec sleep 1234'], security: { hostPid: true } });
    await eventually(
      () => processesOf(spec),
      (found) => found.length === 2,
    );
    await node.driver.signal(spec.id, 'SIGKILL');
    await node.driver.ended(spec.id);
    expect(await processesOf(spec)).toEqual([]);
  });

  test('one that ends by SIGTERM says so', async () => {
    const spec = await node.run({ command: ['sh', '-c', 'trap "exit 0" TERM; echo ready; while :; do sleep 0.05; done'] });
    // Before it has said what to do with it, the first process of a container is not even told of the signal.
    await eventually(
      () => node.output(spec),
      (text) => text.includes('ready'),
    );
    await node.driver.signal(spec.id, 'SIGTERM');
    expect(await node.driver.ended(spec.id)).toMatchObject({ exitCode: 0, oomKilled: false });
  });

  test.each([
    ['a device that never ends', '/dev/zero', { reason: 'StartError' }],
    ['a pipe that never says anything', '/pipe', { reason: 'RunContainerError', message: 'context deadline exceeded' }],
  ])('an image that has %s for a user file does not hold the node', async (_, target, expected) => {
    const layer = mkdtempSync(join(node.folder.dir, 'layer-'));
    mkdirSync(join(layer, 'etc'));
    symlinkSync(target, join(layer, 'etc/passwd'));
    execFileSync('mkfifo', [join(layer, 'pipe')]);
    await startFails({ image: busyboxImage({}, [layer]), command: ['true'] }, expected);
  });

  test('a container that puts a pipe in place of its user file does not hold exec', async () => {
    const { id } = await node.run({ command: ['sh', '-c', 'rm /etc/passwd; mkfifo /etc/passwd; echo ready; sleep 1000'] });
    await eventually(
      () =>
        node.driver.exec(id, { command: ['true'], terminal: false, stdin: false }).then(
          () => 'ran',
          (error: Error) => error.message,
        ),
      (message) => message === 'context deadline exceeded',
    );
    await node.driver.signal(id, 'SIGKILL');
    await node.driver.ended(id);
    await node.driver.remove(id);
  });
});

test('with the last Pod goes everything in the kernel, while others are being made', async () => {
  await node.driver.cleanUp(new Set());
  const round = async (): Promise<void> => {
    const { spec } = await node.script('true');
    await node.driver.remove(spec.id);
    await node.driver.removeSandbox(spec.pod.uid);
  };
  const many = async (): Promise<void> => {
    for (let count = 0; count < 5; count++) await round();
  };
  await Promise.all([many(), many(), many()]);
  expect(kernelLeftovers(node.cgroups, node.places)).toEqual([]);
});

describe('after a crash', () => {
  test('containers run on and are found again, when everybody who talked to the shim is gone', async () => {
    const spec = await node.run({ command: ['sh', '-c', 'while :; do echo tick; sleep 0.05; done'] });
    const client = await node.folder.connect();
    client.close();
    const ticks = (): number => node.output(spec).length;
    const before = ticks();
    await eventually(ticks, (now) => now > before);
    const next = await node.nextDriver();
    expect((await next.list()).find(({ id }) => id === spec.id)?.end).toBeUndefined();
    await next.signal(spec.id, 'SIGKILL');
    await next.ended(spec.id);
    await next.remove(spec.id);
  });

  test('cleanUp removes what belongs to Pods that are gone and leaves the living alone', async () => {
    const living = await node.run({ command: ['sleep', '1000'] });
    const gone = await node.run({ command: ['sleep', '1000'] });
    const { spec: ended } = await node.script('true');
    await (await node.nextDriver()).cleanUp(new Set([living.pod.uid]));
    expect((await node.driver.list()).map(({ id }) => id)).toEqual([living.id]);
    expect(await processesOf(gone)).toEqual([]);
    expect(await processesOf(living)).toHaveLength(1);
    for (const { pod } of [gone, ended]) expect(mounts().join('\n')).not.toContain(pod.uid);
    expect(containersOnDisk()).toEqual([living.id]);
    expect(await node.cgroups.children(node.places.cgroup)).toEqual([`pod${living.pod.uid}`]);
    await node.driver.signal(living.id, 'SIGKILL');
  });

  test('cleanUp ends containers that lost their shim, of living Pods too: nobody hears them any more', async () => {
    const spec = await node.run({ command: ['sleep', '1000'] });
    process.kill(node.folder.shimPid()!, 'SIGKILL');
    await eventually(
      () => node.folder.shimPid(),
      (pid) => pid === undefined,
    );
    expect(await processesOf(spec)).toHaveLength(1);
    const next = await node.nextDriver();
    await cleanUpOf(next, [spec.pod.uid]);
    const listed = (await next.list()).find(({ id }) => id === spec.id);
    // The shim may find the process again by its own records; then it is not lost, and stays.
    if (!listed || listed.end) expect(await processesOf(spec)).toEqual([]);
    else expect(await processesOf(spec)).toHaveLength(1);
    await next.cleanUp(new Set());
    expect(await processesOf(spec)).toEqual([]);
  });

  test('a start that was cut short is begun anew', async () => {
    const spec = await node.run({ command: ['sleep', '1000'] });
    await node.driver.signal(spec.id, 'SIGKILL');
    await node.driver.ended(spec.id);
    // As if the agent had died after making the bundle: everything but the shim's record is there.
    await node.shim.forget(spec.id);
    await node.driver.start(spec);
    expect(await processesOf(spec)).toHaveLength(1);
    await node.driver.signal(spec.id, 'SIGKILL');
  });

  test('a record of the runtime that a crash has cut short does not keep a container from being removed', async () => {
    const spec = await node.run({ command: ['sleep', '1000'] });
    writeFileSync(join(node.places.state, spec.id, 'state.json'), '{"id":');
    await node.driver.signal(spec.id, 'SIGKILL');
    await node.driver.ended(spec.id);
    await node.driver.remove(spec.id);
    expect(readdirSync(node.places.state)).not.toContain(spec.id);
    expect(containersOnDisk()).not.toContain(spec.id);
  });

  test('folders without a container, half made or half removed, are cleaned up', async () => {
    mkdirSync(join(node.places.containers, 'aaaa-1.main.0', 'upper'), { recursive: true });
    mkdirSync(join(node.places.pods, 'aaaa-2', 'shm'), { recursive: true });
    await node.cgroups.create(`${node.places.cgroup}/podaaaa-3/main.0`);
    await (await node.nextDriver()).cleanUp(new Set());
    expect(containersOnDisk()).toEqual([]);
    expect(readdirSync(node.places.pods)).toEqual([]);
    expect(await node.cgroups.children(node.places.cgroup)).toEqual([]);
  });
});
