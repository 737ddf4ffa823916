import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createProcessDriver } from '../../src/engine/node/drivers/process/process-driver.ts';
import { probeSandboxTools } from '../../src/engine/node/drivers/process/sandbox-tools.ts';
import { builtShim } from '../conformance/node-driver/built-shim.ts';
import { driverSuite } from '../conformance/node-driver/driver.suite.ts';
import { toolsImage } from '../conformance/node-driver/tools-image.ts';
import { nodeTools } from './node-tools.ts';

await nodeTools('bwrap');
const tools = await probeSandboxTools();

describe(`process driver in bubblewrap as user ${process.getuid!()}`, () => {
  driverSuite({
    image: toolsImage,
    make: (shim, dir) => createProcessDriver({ shim, dir, programs: [process.execPath], tools }),
    promises: { mounts: true, namespaces: true, processes: true },
  });
});

describe.runIf(process.getuid!() === 0)('process driver in bubblewrap', () => {
  it('holds the same as a plain user', { timeout: 120_000 }, async () => {
    const shim = await builtShim();
    const user = ['--reuid', '31337', '--regid', '31337', '--clear-groups', '--'];
    const vitest = [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config',
      'test/cluster/vitest.config.ts',
      '--configLoader',
      'runner',
      'test/cluster/process-driver.test.ts',
    ];
    const run = spawnSync('setpriv', [...user, process.execPath, ...vitest], {
      encoding: 'utf8',
      timeout: 110_000,
      env: { PATH: process.env.PATH, HOME: '/nonexistent', TENANTRY_TEST_SHIM: shim, NO_COLOR: '1' },
    });
    expect(`${run.stdout}${run.stderr}`).toMatch(/Tests +\d+ passed/);
    expect(run.status).toBe(0);
  });
});
