import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Driver } from '../engine/node/drivers/driver.ts';
import type { OciRuntime } from '../engine/node/drivers/oci/runtime.ts';
import type { Shim } from '../engine/node/shim/shim.ts';
import { realClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

export interface ChosenDriver {
  driver: Driver;
  /** How the Node calls it: `runc://1.1.5`. */
  runtime: string;
}

export interface DriverChoice {
  mode: 'auto' | 'process' | 'oci';
  shim: Shim;
  /** `<data>/node` */
  dir: string;
  version: string;
  log: Log;
}

/** Containers where the machine can, processes where it cannot. @throws Error when containers were asked for and cannot be had */
export async function chooseDriver(choice: DriverChoice): Promise<ChosenDriver> {
  const { machineCgroups } = await import('../engine/node/drivers/cgroups/cgroups.ts');
  const { cgroups, why } = await machineCgroups(realClock);
  if (choice.mode !== 'process') {
    const { probeRuntimes } = await import('../engine/node/drivers/oci/probe-runtimes.ts');
    const { runtime, tried } = await probeRuntimes({ dir: join(choice.dir, 'oci'), cgroups, cgroupsMissing: why });
    if (runtime && cgroups) {
      const { createOciDriver } = await import('../engine/node/drivers/oci/oci-driver.ts');
      const { shim, dir } = choice;
      const folders = { dir: join(dir, 'oci'), seccompFolder: join(dir, 'seccomp') };
      const options = { runtime, cgroups, programs: programs(), hidden: [dirname(dir)], clock: realClock };
      const driver = createOciDriver({ shim, ...folders, ...options });
      return { driver, runtime: await runtimeName(runtime) };
    }
    const reasons = tried.map(({ name, why: reason }) => `${name}: ${reason}`).join('; ');
    if (choice.mode === 'oci')
      throw new Error(`Cannot run containers: no runtime works here (${reasons}); install runc, or use --node process`);
    choice.log.info('running Pods as processes', { reasons });
  }
  const [{ createProcessDriver }, { probeSandboxTools }] = await Promise.all([
    import('../engine/node/drivers/process/process-driver.ts'),
    import('../engine/node/drivers/process/sandbox-tools.ts'),
  ]);
  const tools = await probeSandboxTools();
  const { shim, dir, version } = choice;
  // Without a sandbox, containers that run as users of their own find their volumes by the path they have on the machine: it has to be
  // passable. What is beside it stays closed, each by itself.
  if (tools.isRoot && tools.bwrap === undefined) await Promise.all([chmod(dir, 0o711), chmod(dirname(dir), 0o711)]);
  const limits = tools.isRoot ? cgroups : undefined;
  const options = { tools, programs: programs(), hidden: [dirname(dir)], cgroups: limits, clock: realClock };
  const driver = createProcessDriver({ shim, dir: join(dir, 'process'), ...options });
  return { driver, runtime: `process://${version}` };
}

/** What built-in images run from: this Node, and this product. */
function programs(): string[] {
  const here = dirname(fileURLToPath(import.meta.url));
  const dist = here.endsWith('chunks') ? dirname(here) : here;
  return [process.execPath, dist, join(dist, '..', 'package.json'), join(dist, '..', 'node_modules')];
}

async function runtimeName({ name, path }: OciRuntime): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ['--version']).catch(() => ({ stdout: '' }));
  return `${name}://${/version (?:release-)?(\S+)/.exec(stdout)?.[1] ?? 'unknown'}`;
}
