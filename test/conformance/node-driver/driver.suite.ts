import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContainerError, type ContainerSpec, type Driver } from '../../../src/engine/node/drivers/driver.ts';
import type { Image } from '../../../src/engine/node/images/images.ts';
import type { Shim } from '../../../src/engine/node/shim/shim.ts';
import { eventually } from '../../integration/controllers/eventually.ts';
import { aContainer, TEST_POD as POD } from './container-builder.ts';
import { withoutTimes } from './on-driver.ts';
import { makeShimFolder, type ShimFolder } from './shim-folder.ts';
import { StreamText, textOf } from './stream-text.ts';

/** One driver on this machine. */
export interface DriverUnderTest {
  /** Below `dir`, on a shim of its own. Called again for another agent on the same folder. */
  make(shim: Shim, dir: string): Promise<Driver> | Driver;
  /** An image with a POSIX shell and the usual tools. */
  image: Image;
  /** What this driver promises on this machine; of what it does not, `missingIsolation` must speak. */
  promises: DriverPromises;
  /** Undoes what `make` made outside of the folder. */
  dispose?(driver: Driver): Promise<void>;
}

export interface DriverPromises {
  /** Volumes are at their paths, and read-only ones are. Else they are below $TENANTRY_ROOT. */
  mounts: boolean;
  /** The container has its own hostname and sees only its own processes. */
  namespaces: boolean;
  /** The number of processes is limited. */
  processes: boolean;
}

/** What every driver keeps. */
export function driverSuite(under: DriverUnderTest): void {
  let folder: ShimFolder;
  let shim: Shim;
  let driver: Driver;
  let count: number;

  beforeEach(async () => {
    folder = await makeShimFolder();
    shim = await folder.connect();
    driver = await makeDriver();
    count = 0;
    await driver.prepareSandbox({ pod: POD, limits: { pids: 1000 } });
  });

  afterEach(async () => {
    await driver.cleanUp(new Set());
    await driver.removeSandbox(POD.uid);
    await under.dispose?.(driver);
    await folder.dispose();
  });

  const makeDriver = async (client = shim) => under.make(client, join(folder.dir, 'driver'));
  const container = (script: string, more: Partial<ContainerSpec> = {}): ContainerSpec => {
    const attempt = more.attempt ?? count++;
    return aContainer(script, { attempt, image: under.image, logPath: join(folder.dir, 'logs', `${attempt}.log`), ...more });
  };
  const logOf = ({ logPath }: ContainerSpec): string => (existsSync(logPath) ? withoutTimes(readFileSync(logPath, 'utf8')) : '');
  const logHas = (spec: ContainerSpec, text: string) =>
    eventually(
      () => logOf(spec),
      (log) => log.includes(text),
    );
  /** Runs it to its end and gives what it said. */
  const run = async (script: string, more: Partial<ContainerSpec> = {}) => {
    const spec = container(script, more);
    await driver.start(spec);
    const end = await driver.ended(spec.id);
    return { spec, end, log: logOf(spec) };
  };
  const failureOf = async (action: Promise<unknown>): Promise<ContainerError> => {
    const error: unknown = await action.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ContainerError);
    return error as ContainerError;
  };
  const execText = async (id: string, ...command: string[]) => {
    const streams = await driver.exec(id, { command, terminal: false, stdin: false });
    const [out, err] = [textOf(streams.stdout), textOf(streams.stderr!)];
    const { exitCode } = await streams.ended;
    return { exitCode, out: await out, err: await err };
  };
  /** Numbers of processes as the machine has them, found by a word in their command line that nobody else has. */
  const processesWith = (mark: string): string[] =>
    readdirSync('/proc').filter((name) => {
      try {
        return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(mark);
      } catch {
        return false;
      }
    });
  const mark = () => String(100_000 + Math.floor(Math.random() * 900_000));

  describe('start and end', () => {
    it.each([0, 1, 42, 255])('a container ends with its exit code %i', async (code) => {
      const { end } = await run(`exit ${code}`);
      expect(end).toMatchObject({ exitCode: code, oomKilled: false });
      expect(end.finishedAt.getTime()).toBeGreaterThanOrEqual(end.startedAt.getTime());
    });

    it('a container that a signal ends has 128 and its number', async () => {
      // From outside: the first process of a container cannot kill itself.
      const spec = container('exec sleep 60');
      await driver.start(spec);
      await driver.signal(spec.id, 'SIGKILL');
      expect((await driver.ended(spec.id)).exitCode).toBe(137);
    });

    it('start resolves when the program runs, and says since when', async () => {
      const spec = container('exec sleep 60');
      const before = Date.now();
      const { startedAt } = await driver.start(spec);
      expect(startedAt.getTime()).toBeGreaterThanOrEqual(before - 1000);
      expect(await driver.list()).toEqual([{ id: spec.id, pod: POD, name: 'main', attempt: 0, startedAt }]);
    });

    it('start takes a container that runs already as it is', async () => {
      const spec = container('echo once; exec sleep 60');
      const first = await driver.start(spec);
      expect(await driver.start(spec)).toEqual(first);
      await logHas(spec, 'once');
      expect(logOf(spec)).toBe('once\n');
    });

    it.each<[string, string[], RegExp]>([
      ['a command that is nowhere in PATH', ['no-such-command'], /executable file not found in \$PATH/],
      ['a path that is not there', ['/bin/no-such-command'], /no such file or directory/],
      ['a file that is not executable', ['/etc/passwd'], /permission denied/],
    ])('start rejects with StartError for %s, and nothing is left', async (_name, command, message) => {
      const error = await failureOf(driver.start(container('', { command })));
      expect(error).toMatchObject({ reason: 'StartError', exitCode: 128, message: expect.stringMatching(message) });
      expect(await driver.list()).toEqual([]);
    });

    it('arguments go to the entry point of the image when the Pod names no command', async () => {
      const image = { ...under.image, config: { ...under.image.config, entrypoint: ['/bin/echo', 'from'], cmd: ['the image'] } };
      expect((await run('', { image, command: undefined })).log).toBe('from the image\n');
      expect((await run('', { image, command: undefined, args: ['the', 'Pod'] })).log).toBe('from the Pod\n');
    });

    it('many containers start at once', async () => {
      const specs = Array.from({ length: 20 }, (_, index) => container(`echo ${index}; exit ${index}`));
      await Promise.all(specs.map((spec) => driver.start(spec)));
      const ends = await Promise.all(specs.map(({ id }) => driver.ended(id)));
      expect(ends.map(({ exitCode }) => exitCode)).toEqual(specs.map((_, index) => index));
      expect(specs.map(logOf)).toEqual(specs.map((_, index) => `${index}\n`));
    });
  });

  describe('what the program sees', () => {
    it('the environment is that of the image and the Pod, and nothing else', async () => {
      const image = { ...under.image, config: { ...under.image.config, env: ['PATH=/usr/bin:/bin', 'FROM=image', 'BOTH=image'] } };
      const hard = `spaces, 'quotes', "double", $HOME, \`x\`, \\ and\na new line`;
      // Not through a shell: some drop names that they could not have given.
      const { log } = await run('', {
        command: ['env', '-0'],
        image,
        env: { BOTH: 'pod', HARD: hard, 'with.dots': 'too', LD_PRELOAD: '', _UNDER: '' },
      });
      const variables = log.split('\0').filter((variable) => variable.includes('='));
      const seen = new Map(
        variables.map((variable) => [variable.slice(0, variable.indexOf('=')), variable.slice(variable.indexOf('=') + 1)]),
      );
      expect(seen.get('PATH')).toMatch(/^\/usr\/bin:\/bin/);
      expect(seen.get('FROM')).toBe('image');
      expect(seen.get('BOTH')).toBe('pod');
      expect(seen.get('HARD')).toBe(hard);
      expect(seen.get('with.dots')).toBe('too');
      expect(seen.get('HOSTNAME')).toBe('web-0');
      const usual = [
        'PATH',
        'FROM',
        'BOTH',
        'HARD',
        'with.dots',
        'LD_PRELOAD',
        '_UNDER',
        'HOSTNAME',
        'HOME',
        'PWD',
        'OLDPWD',
        'SHLVL',
        '_',
      ];
      const ours = under.promises.mounts ? [] : ['TMPDIR', 'TENANTRY_ROOT'];
      expect([...seen.keys()].filter((name) => ![...usual, ...ours].includes(name))).toEqual([]);
    });

    it('the working directory is the one asked for', async () => {
      expect((await run('pwd', { workingDir: '/usr/bin' })).log).toBe('/usr/bin\n');
      expect((await run('pwd')).log).toBe('/\n');
    });

    it('temporary files can be written', async () => {
      expect((await run('f=${TMPDIR:-/tmp}/x; echo text > $f && cat $f')).log).toBe('text\n');
    });

    it('both outputs can be opened again by name', async () => {
      expect((await run('echo out > /dev/stdout')).log).toBe('out\n');
      expect((await run('echo err > /dev/stderr')).log).toBe('err\n');
    });

    it('volumes are there, and read-only ones stay as they are', async () => {
      const [shared, fixed] = ['shared', 'fixed'].map((name) => join(folder.dir, name));
      for (const path of [shared, fixed]) mkdirSync(path, { mode: 0o777 });
      writeFileSync(join(fixed, 'file'), 'fixed\n', { mode: 0o644 });
      writeFileSync(join(folder.dir, 'single'), 'single\n', { mode: 0o644 });
      chmodSync(shared, 0o777);
      chmodSync(fixed, 0o777);
      const root = under.promises.mounts ? '' : '$TENANTRY_ROOT';
      const { log, end } = await run(
        `cat ${root}/fixed/file ${root}/etc/single; echo new > ${root}/data/deep/new; echo no > ${root}/fixed/new || echo refused`,
        {
          mounts: [
            { source: shared, target: '/data/deep', readOnly: false },
            { source: fixed, target: '/fixed', readOnly: true },
            { source: join(folder.dir, 'single'), target: '/etc/single', readOnly: true },
          ],
        },
      );
      expect(end.exitCode).toBe(0);
      expect(log).toContain('fixed\nsingle\n');
      expect(readFileSync(join(shared, 'new'), 'utf8')).toBe('new\n');
      if (under.promises.mounts) expect([log.includes('refused'), existsSync(join(fixed, 'new'))]).toEqual([true, false]);
      else expect(driver.missingIsolation.join()).toContain('volumes are not mounted');
    });

    it('it has a name and a view of its own, or the driver says that it has not', async () => {
      const other = mark();
      await driver.start(container(`exec sleep ${other}`));
      const { log } = await run(
        `cat /proc/sys/kernel/hostname; grep -lz '^[${other[0]}]${other.slice(1)}$' /proc/[0-9]*/cmdline 2>/dev/null | wc -l`,
      );
      if (under.promises.namespaces) expect(log).toBe('web-0\n0\n');
      else expect(driver.missingIsolation.join()).toMatch(/sandbox/);
    });

    it('a fork bomb stops at its limit, or the driver says that it does not', async () => {
      if (!under.promises.processes) {
        expect(driver.missingIsolation.join()).toContain('number of processes');
        return;
      }
      const { log } = await run('i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all', { limits: { pids: 30 } });
      expect(log).not.toContain('all');
      expect(log).toMatch(/[Cc]annot fork|can't fork|Resource temporarily unavailable/);
    });
  });

  describe('signals', () => {
    it('SIGTERM reaches the program itself', async () => {
      const spec = container('trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.05; done');
      await driver.start(spec);
      await logHas(spec, 'ready');
      await driver.signal(spec.id, 'SIGTERM');
      expect((await driver.ended(spec.id)).exitCode).toBe(3);
      expect(logOf(spec)).toBe('ready\nbye\n');
    });

    it('a program that ignores SIGTERM runs on until SIGKILL', async () => {
      const spec = container('trap "" TERM; echo ready; while :; do sleep 0.05; done');
      await driver.start(spec);
      await logHas(spec, 'ready');
      await driver.signal(spec.id, 'SIGTERM');
      await sleep(100);
      expect((await driver.list())[0].end).toBeUndefined();
      await driver.signal(spec.id, 'SIGKILL');
      expect((await driver.ended(spec.id)).exitCode).toBe(137);
    });

    it.each(['SIGKILL ends it', 'the program ends'])('no process of a container is left when %s', async (how) => {
      const child = mark();
      const spec = container(
        `(trap "" HUP TERM INT; sleep ${child}; :) & (sleep ${child} &) ; sleep 0.1; echo ready; ${how.startsWith('SIG') ? 'wait' : 'exit 0'}`,
      );
      await driver.start(spec);
      await logHas(spec, 'ready');
      if (how.startsWith('SIG')) {
        expect(processesWith(child)).toHaveLength(2);
        await driver.signal(spec.id, 'SIGKILL');
      }
      await driver.ended(spec.id);
      expect(processesWith(child)).toEqual([]);
    });

    it('a signal to what has ended does nothing', async () => {
      const { spec } = await run('exit 0');
      await driver.signal(spec.id, 'SIGTERM');
      await driver.signal(spec.id, 'SIGKILL');
    });
  });

  describe('streams', () => {
    it('attach gives input and outputs of the program', async () => {
      const spec = container('echo ready; read line; echo "got $line"; echo err >&2; exit 5', { stdin: true });
      await driver.start(spec);
      await logHas(spec, 'ready');
      const streams = await driver.attach(spec.id);
      const [out, err] = [textOf(streams.stdout), textOf(streams.stderr!)];
      streams.stdin!.write('hello\n');
      expect((await streams.ended).exitCode).toBe(5);
      expect([await out, await err]).toEqual(['got hello\n', 'err\n']);
    });

    it('a terminal has a size that can change, and Ctrl-C interrupts', async () => {
      const spec = container('trap "echo interrupted; exit 8" INT; echo ready; while :; do stty size; sleep 0.05; done', {
        terminal: true,
        stdin: true,
        env: { TERM: 'xterm' },
      });
      await driver.start(spec);
      const streams = await driver.attach(spec.id);
      const out = new StreamText(streams.stdout);
      streams.resize(132, 43);
      await eventually(
        () => out.text,
        (text) => text.includes('43 132'),
      );
      streams.stdin!.write('\x03');
      expect((await streams.ended).exitCode).toBe(8);
      expect(await out.ended).toContain('interrupted');
    });
  });

  describe('exec', () => {
    it('exec runs in the container, with its environment and folder, and gives its exit code', async () => {
      const spec = container('cd /tmp; touch ${TMPDIR:-/tmp}/there; echo ready; exec sleep 60', {
        env: { FROM: 'the Pod' },
        workingDir: '/usr',
      });
      await driver.start(spec);
      await logHas(spec, 'ready');
      const result = await execText(
        spec.id,
        '/bin/sh',
        '-c',
        'echo "$FROM"; pwd; ls ${TMPDIR:-/tmp}/there >/dev/null && echo found; echo err >&2; exit 7',
      );
      expect(result).toEqual({ exitCode: 7, out: 'the Pod\n/usr\nfound\n', err: 'err\n' });
    });

    it('exec takes input', async () => {
      const spec = container('exec sleep 60');
      await driver.start(spec);
      const streams = await driver.exec(spec.id, { command: ['cat'], terminal: false, stdin: true });
      streams.stdin!.end('input');
      expect(await textOf(streams.stdout)).toBe('input');
      expect((await streams.ended).exitCode).toBe(0);
    });

    it('exec with a terminal has one, with a size', async () => {
      const spec = container('exec sleep 60');
      await driver.start(spec);
      const streams = await driver.exec(spec.id, { command: ['/bin/sh'], terminal: true, stdin: true });
      const out = new StreamText(streams.stdout);
      streams.resize(111, 22);
      await eventually(
        () => {
          streams.stdin!.write('stty size\n');
          return out.text;
        },
        (text) => text.includes('22 111'),
      );
      streams.stdin!.write('exit 6\n');
      expect((await streams.ended).exitCode).toBe(6);
    });

    it('exec rejects a command that is not there', async () => {
      const spec = container('exec sleep 60');
      await driver.start(spec);
      const error = await failureOf(driver.exec(spec.id, { command: ['no-such-command'], terminal: false, stdin: false }));
      expect(error).toMatchObject({ reason: 'StartError', message: expect.stringContaining('executable file not found in $PATH') });
    });

    it('exec rejects for a container that has ended or was never there', async () => {
      const { spec } = await run('exit 0');
      await failureOf(driver.exec(spec.id, { command: ['true'], terminal: false, stdin: false }));
      await failureOf(driver.exec(`${POD.uid}.main.99`, { command: ['true'], terminal: false, stdin: false }));
    });

    it('a command is killed when its streams are closed', async () => {
      const spec = container('exec sleep 60');
      const child = mark();
      await driver.start(spec);
      const streams = await driver.exec(spec.id, { command: ['sleep', child], terminal: false, stdin: false });
      await eventually(
        () => processesWith(child).length,
        (running) => running > 0,
      );
      streams.close();
      await eventually(
        () => processesWith(child).length,
        (running) => running === 0,
      );
      expect((await driver.list())[0].end).toBeUndefined();
    });
  });

  describe('stats', () => {
    it('stats count the processor and the memory that a container uses', async () => {
      const spec = container('i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo ready; sleep 60; :');
      await driver.start(spec);
      await logHas(spec, 'ready');
      const stats = await driver.stats(spec.id);
      expect(stats!.cpuNanoseconds).toBeGreaterThan(10_000_000);
      expect(stats!.memoryBytes).toBeGreaterThan(100_000);
      expect(stats!.memoryBytes).toBeLessThan(200_000_000);
      expect(Math.abs(stats!.at.getTime() - Date.now())).toBeLessThan(5000);
    });
  });

  describe('after a restart of the agent', () => {
    it('another driver finds what runs and what has ended, and goes on with both', async () => {
      const running = container('trap "exit 4" TERM; echo ready; while :; do sleep 0.05; done');
      await driver.start(running);
      await logHas(running, 'ready');
      const ended = await run('exit 9');
      shim.close();
      shim = await folder.connect();
      driver = await makeDriver();
      const found = await driver.list();
      expect(found.map(({ id, end }) => `${id}: ${end?.exitCode}`).sort()).toEqual([`${running.id}: undefined`, `${ended.spec.id}: 9`]);
      expect((await driver.ended(ended.spec.id)).exitCode).toBe(9);
      expect((await execText(running.id, 'echo', 'hi')).out).toBe('hi\n');
      expect((await driver.stats(running.id))!.memoryBytes).toBeGreaterThan(0);
      await driver.signal(running.id, 'SIGTERM');
      expect((await driver.ended(running.id)).exitCode).toBe(4);
    });

    it('cleanUp ends what belongs to Pods that are gone and leaves the others', async () => {
      const [gone, live] = [mark(), mark()];
      const other = { ...POD, uid: '99999999-9d2b-4c53-8f0e-0d7f6a1b2c3d' };
      await driver.prepareSandbox({ pod: other, limits: { pids: 1000 } });
      await driver.start(container(`exec sleep ${live}`));
      await driver.start(container(`exec sleep ${gone}`, { id: `${other.uid}.main.0`, pod: other }));
      await driver.cleanUp(new Set([POD.uid]));
      expect((await driver.list()).map(({ pod }) => pod.uid)).toEqual([POD.uid]);
      expect([processesWith(gone), processesWith(live).length > 0]).toEqual([[], true]);
    });
  });

  describe('remove', () => {
    it('remove leaves nothing but the log', async () => {
      const { spec } = await run('echo text; touch ${TMPDIR:-/tmp}/file');
      await driver.remove(spec.id);
      expect(await driver.list()).toEqual([]);
      expect(readdirSync(join(folder.dir, 'shim')).filter((name) => name.endsWith('.json'))).toEqual([]);
      expect(allFiles(join(folder.dir, 'driver')).filter((path) => path.includes(spec.id))).toEqual([]);
      expect(logOf(spec)).toBe('text\n');
    });

    it('remove can be called again', async () => {
      const { spec } = await run('exit 0');
      await driver.remove(spec.id);
      await driver.remove(spec.id);
    });
  });
}

function allFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String);
}
