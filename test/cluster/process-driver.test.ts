import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { machineCgroups } from '../../src/engine/node/drivers/cgroups/cgroups.ts';
import { rootCgroup } from '../../src/engine/node/drivers/process/process-cgroups.ts';
import { createProcessDriver } from '../../src/engine/node/drivers/process/process-driver.ts';
import { probeSandboxTools } from '../../src/engine/node/drivers/process/sandbox-tools.ts';
import { builtShim } from '../conformance/node-driver/built-shim.ts';
import { aContainer, TEST_POD } from '../conformance/node-driver/container-builder.ts';
import { driverSuite } from '../conformance/node-driver/driver.suite.ts';
import { onDriver } from '../conformance/node-driver/on-driver.ts';
import { toolsImage } from '../conformance/node-driver/tools-image.ts';
import { nodeTools } from './node-tools.ts';
import { equal, turnsOf } from './processor-turns.ts';

await nodeTools('bwrap', 'ip');
const isRoot = process.getuid!() === 0;
const tools = await probeSandboxTools();
const { cgroups } = isRoot ? await machineCgroups() : {};

const used: string[] = [];
const make: Parameters<typeof driverSuite>[0]['make'] = (shim, dir) => {
  used.push(dir);
  return createProcessDriver({ shim, dir, programs: [process.execPath], tools, cgroups });
};

describe(`process driver in bubblewrap as user ${process.getuid!()}`, () => {
  driverSuite({ image: toolsImage, make, promises: { mounts: true, namespaces: true, processes: true } });
});

describe.runIf(isRoot)('process driver as root without bubblewrap', () => {
  driverSuite({
    image: toolsImage,
    make: (shim, dir) => {
      chmodSync(dirname(dir), 0o711);
      return createProcessDriver({ shim, dir, programs: [], tools: { ...tools, bwrap: undefined }, cgroups });
    },
    promises: { mounts: false, namespaces: false, processes: true },
  });
});

describe('containment', () => {
  it('a container over its memory limit is ended and said to be', async () => {
    await onDriver(make, async ({ run }) => {
      const script = 'x=$(head -c 100000000 /dev/zero | tr "\\0" x); sleep 10; echo survived';
      const { end, log } = await run(aContainer(script, { limits: { pids: 100, memoryBytes: 50_000_000 } }));
      expect(end).toMatchObject({ exitCode: 137, oomKilled: true });
      expect(log).not.toContain('survived');
    });
  });

  it("it sees neither the machine's secrets nor our own folders", async () => {
    await onDriver(make, async ({ run, dir }) => {
      const { log } = await run(aContainer(`cat /etc/shadow; ls ${dir}; ls /root /home; echo "[$(ls /)]"`));
      expect(log).not.toMatch(/root:[*!$]/);
      expect(log.match(/No such file/g)!.length).toBeGreaterThanOrEqual(3);
    });
  });

  it('it has no capabilities and cannot get any', async () => {
    await onDriver(make, async ({ run }) => {
      const { log } = await run(aContainer('grep -E "Cap(Prm|Eff|Bnd)|NoNewPrivs" /proc/self/status'));
      expect(log).toMatch(/CapPrm:\s0+\nCapEff:\s0+\n/);
      expect(log).toMatch(/NoNewPrivs:\s1/);
    });
  });

  it('environment variables of the Pod are not in the command line of anything', async () => {
    await onDriver(make, async ({ driver, dir }) => {
      const spec = aContainer('exec sleep 60', { env: { TOKEN: 'very-secret-9431' }, logPath: `${dir}/log` });
      await driver.start(spec);
      const all = execFileSync('sh', ['-c', 'cat /proc/[0-9]*/cmdline 2>/dev/null; true'], { encoding: 'utf8' });
      expect(all).not.toContain('very-secret-9431');
    });
  });

  it('LD_PRELOAD of the Pod does not reach the tools that make the sandbox', async () => {
    await onDriver(make, async ({ run }) => {
      const { log, end } = await run(aContainer('echo ran', { env: { LD_PRELOAD: '/nowhere/evil.so' } }));
      expect(end.exitCode).toBe(0);
      // Complained about once, by the program itself.
      expect(log.match(/evil\.so/g) ?? []).toHaveLength(1);
    });
  });
});

describe.runIf(isRoot)('containment as root', () => {
  const namespace = 'tenantry-process-test';
  beforeAll(() => void execFileSync('ip', ['netns', 'add', namespace]));
  afterAll(() => void execFileSync('ip', ['netns', 'delete', namespace]));

  it('a Pod that names no user gets one of its own, the same for all of its containers', async () => {
    await onDriver(make, async ({ run }) => {
      const users = [await run(aContainer('id -u', { attempt: 0 })), await run(aContainer('id -u', { attempt: 1 }))].map(({ log }) =>
        Number(log),
      );
      expect(users[0]).toBe(users[1]);
      expect(users[0]).toBeGreaterThan(0x7000_0000);
      const { log } = await run(aContainer('id', { attempt: 2, user: { uid: 1234, gid: 99, groups: [77], mustNotBeRoot: true } }));
      expect(log).toMatch(/uid=1234.* gid=99.*77/);
    });
  });

  it('runAsNonRoot is refused for user 0', async () => {
    await onDriver(make, async ({ driver }) => {
      const start = driver.start(aContainer('true', { user: { uid: 0, groups: [], mustNotBeRoot: true } }));
      await expect(start).rejects.toMatchObject({
        reason: 'CreateContainerConfigError',
        message: expect.stringContaining('non-root policy'),
      });
    });
  });

  it('it is in the network of its Pod, and so are commands that are run in it', async () => {
    await onDriver(make, async ({ driver, run, text, dir }) => {
      const networkNamespace = `/run/netns/${namespace}`;
      const { log } = await run(aContainer('cat /proc/net/dev', { networkNamespace }));
      expect(log).not.toContain('eth0');
      const spec = aContainer('exec sleep 60', { attempt: 1, networkNamespace, logPath: `${dir}/log` });
      await driver.start(spec);
      expect(await text(spec.id, ['cat', '/proc/net/dev'])).not.toContain('eth0');
    });
  });

  it('a Pod gives way to others, and is as before when it does no more, or is taken over, or is gone', async () => {
    await onDriver(make, async ({ driver, dir }) => {
      const [sandbox, cgroup] = [
        { pod: TEST_POD, limits: { cpuShares: 358, pids: 100 } },
        `${rootCgroup(`${dir}/driver`)}/pod${TEST_POD.uid}`,
      ];
      await driver.prepareSandbox(sandbox);
      expect(driver.processors!.giveWay(sandbox, true)).toBe(true);
      expect(turnsOf(cgroup).givesWay).toBe(true);
      driver.processors!.giveWay(sandbox, false);
      expect(turnsOf(cgroup)).toEqual(equal(358));
      driver.processors!.giveWay(sandbox, true);
      // The kernel refuses shares for one that gives way.
      await driver.prepareSandbox(sandbox);
      expect(turnsOf(cgroup)).toEqual(equal(358));
      expect(driver.processors!.used(TEST_POD.uid)).toBeGreaterThanOrEqual(0);
      driver.processors!.giveWay(sandbox, true);
      await driver.removeSandbox(TEST_POD.uid);
      const after = [driver.processors!.giveWay(sandbox, true), driver.processors!.giveWay(sandbox, false)];
      expect([driver.processors!.used(TEST_POD.uid), ...after]).toEqual([undefined, true, true]);
    });
  });

  it('holds the same as a plain user', { timeout: 120_000 }, async () => {
    const shim = await builtShim();
    const user = ['--reuid', '31337', '--regid', '31337', '--clear-groups', '--'];
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/cluster/vitest.config.ts', '--configLoader', 'runner'];
    const run = spawnSync('setpriv', [...user, process.execPath, ...vitest, 'test/cluster/process-driver.test.ts', '--bail', '3'], {
      encoding: 'utf8',
      timeout: 110_000,
      env: { PATH: process.env.PATH, HOME: '/nonexistent', TENANTRY_TEST_SHIM: shim, NO_COLOR: '1' },
    });
    expect(`${run.stdout}${run.stderr}`).toMatch(/Tests +\d+ passed/);
    expect(run.status).toBe(0);
  });

  it('nothing is left in the cgroups of the machine', async () => {
    const left = await Promise.all(used.map((dir) => cgroups!.children(rootCgroup(dir))));
    expect(used.length).toBeGreaterThan(0);
    expect(left.flat()).toEqual([]);
    const roots = readdirSync('/sys/fs/cgroup').flatMap((tree) => used.map((dir) => `/sys/fs/cgroup/${tree}${rootCgroup(dir)}`));
    expect(roots.filter((path) => existsSync(path))).toEqual([]);
  });
});
