import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Cgroups } from '../engine/node/drivers/cgroups/cgroups.ts';
import type { Driver } from '../engine/node/drivers/driver.ts';
import type { ProbeResult } from '../engine/node/drivers/oci/probe-runtimes.ts';
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
    const { runtime, tried } = await probe(choice, cgroups, why);
    if (runtime && cgroups) {
      await endOthers(choice, 'oci', () => processDriver(choice, cgroups));
      return { driver: await ociDriver(choice, cgroups, runtime), runtime: await runtimeName(runtime) };
    }
    const reasons = tried.map(({ name, why: reason }) => `${name}: ${reason}`).join('; ');
    if (choice.mode === 'oci')
      throw new Error(`Cannot run containers: no runtime works here (${reasons}); install runc, or use --node process`);
    choice.log.info('running Pods as processes', { reasons });
  }
  await endOthers(choice, 'process', async () => {
    if (!cgroups) throw new Error(`Cannot end containers: ${why ?? 'there are no cgroups'}; start it as it was started before`);
    // To end containers takes no runtime that works.
    return ociDriver(choice, cgroups, (await probe(choice, cgroups, why)).runtime ?? { name: 'runc', path: 'runc' });
  });
  return { driver: await processDriver(choice, cgroups), runtime: `process://${choice.version}` };
}

async function probe({ dir }: DriverChoice, cgroups: Cgroups | undefined, cgroupsMissing: string | undefined): Promise<ProbeResult> {
  const { probeRuntimes } = await import('../engine/node/drivers/oci/probe-runtimes.ts');
  return probeRuntimes({ dir: join(dir, 'oci'), cgroups, cgroupsMissing });
}

/** What a driver does not know it would start a second time: whatever runs by the other one is ended first. */
async function endOthers({ shim, log }: DriverChoice, chosen: Driver['name'], other: () => Promise<Driver>): Promise<void> {
  const containers = (await shim.list()).filter(({ labels }) => labels.driver !== chosen).map(({ id }) => id);
  if (containers.length === 0) return;
  log.warn('this node runs Pods in another way than before; what runs is ended, and started again if it is to be', { containers });
  await (await other()).cleanUp(new Set());
}

async function ociDriver({ shim, dir }: DriverChoice, cgroups: Cgroups, runtime: OciRuntime): Promise<Driver> {
  const { createOciDriver } = await import('../engine/node/drivers/oci/oci-driver.ts');
  const folders = { dir: join(dir, 'oci'), seccompFolder: join(dir, 'seccomp'), hidden: [dirname(dir)] };
  return createOciDriver({ shim, ...folders, runtime, cgroups, programs: programs(), clock: realClock });
}

async function processDriver({ shim, dir }: DriverChoice, cgroups: Cgroups | undefined): Promise<Driver> {
  const [{ createProcessDriver }, { probeSandboxTools }] = await Promise.all([
    import('../engine/node/drivers/process/process-driver.ts'),
    import('../engine/node/drivers/process/sandbox-tools.ts'),
  ]);
  const tools = await probeSandboxTools();
  // Without a sandbox, containers that run as users of their own find their volumes by the path they have on the machine: it has to be
  // passable. What is beside it stays closed, each by itself.
  if (tools.isRoot && tools.bwrap === undefined) await Promise.all([chmod(dir, 0o711), chmod(dirname(dir), 0o711)]);
  const options = { tools, programs: programs(), hidden: [dirname(dir)], cgroups: tools.isRoot ? cgroups : undefined, clock: realClock };
  return createProcessDriver({ shim, dir: join(dir, 'process'), ...options });
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
