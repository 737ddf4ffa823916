import { existsSync } from 'node:fs';
import type { Log } from '../../../../lib/log.ts';
import { runCommand, runIpBatch } from '../kernel/commands.ts';
import { destroyRouter, routerName, uplinkName } from './router.ts';

const UPLINK_NAME = /^tnt([0-9a-f]{8})$/;
const MARK = 'tenantry:';
/** What the kernel takes as the alias of a link. */
const MAX_ALIAS = 250;

/** Writes on the link to whom it belongs, so that others can tell when nobody is left. */
export async function markRouter(id: string, dir: string, machine: string | undefined): Promise<void> {
  const alias = `${MARK}${dir}`;
  if (Buffer.byteLength(alias) > MAX_ALIAS || /[\s"'\\]/.test(alias)) return;
  await runIpBatch([`link set ${uplinkName(id)} alias ${alias}`], machine);
}

/** Takes away the routers of instances that were killed and whose data directory is gone: nobody will start there again and do it. */
export async function removeAbandonedRouters(machine: string | undefined, log: Log): Promise<void> {
  const links = JSON.parse((await runCommand('ip', ['-j', 'link', 'show'], { namespace: machine })) || '[]') as {
    ifname: string;
    ifalias?: string;
  }[];
  for (const { ifname, ifalias } of links) {
    const id = UPLINK_NAME.exec(ifname)?.[1];
    if (id === undefined || !ifalias?.startsWith(MARK) || existsSync(ifalias.slice(MARK.length))) continue;
    if (await isInUse(id)) continue;
    log.info('removing the network of an instance that is gone', { link: ifname, dir: ifalias.slice(MARK.length) });
    await destroyRouter({ id, machine });
  }
}

/** An agent has processes in its router as long as it lives. A router that cannot be seen is one of another container's, with files of its own. */
async function isInUse(id: string): Promise<boolean> {
  try {
    return (await runCommand('ip', ['netns', 'pids', routerName(id)])).trim() !== '';
  } catch {
    return true;
  }
}
