import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContainerEnd, ContainerSpec, Driver } from '../../../src/engine/node/drivers/driver.ts';
import type { Shim } from '../../../src/engine/node/shim/shim.ts';
import { TEST_POD } from './container-builder.ts';
import { makeShimFolder } from './shim-folder.ts';
import { textOf } from './stream-text.ts';

export interface DriverAtWork {
  driver: Driver;
  dir: string;
  /** Runs it to its end and gives what it said. */
  run(spec: ContainerSpec): Promise<{ end: ContainerEnd; log: string }>;
  /** What a command in a running container says. */
  text(id: string, command: string[]): Promise<string>;
}

/** Gives a driver with a shim of its own to a test, and leaves nothing of it. */
export async function onDriver(
  make: (shim: Shim, dir: string) => Promise<Driver> | Driver,
  work: (at: DriverAtWork) => Promise<void>,
): Promise<void> {
  const { dir, connect, dispose } = await makeShimFolder();
  const driver = await make(await connect(), join(dir, 'driver'));
  try {
    await driver.prepareSandbox({ pod: TEST_POD, limits: { pids: 1000 } });
    await work({
      driver,
      dir,
      async run(spec) {
        const logPath = join(dir, 'logs', `${spec.id}.log`);
        await driver.start({ ...spec, logPath });
        const end = await driver.ended(spec.id);
        return { end, log: existsSync(logPath) ? withoutTimes(readFileSync(logPath, 'utf8')) : '' };
      },
      async text(id, command) {
        return textOf((await driver.exec(id, { command, terminal: false, stdin: false })).stdout);
      },
    });
  } finally {
    await driver.cleanUp(new Set());
    await driver.removeSandbox(TEST_POD.uid);
    await dispose();
  }
}

export function withoutTimes(log: string): string {
  return log.replaceAll(/^\S+Z (stdout|stderr) [FP] /gm, '');
}
