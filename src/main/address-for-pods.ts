import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { uplinkName } from '../engine/node/network/links/router.ts';
import { instanceId } from '../engine/node/network/network-plan.ts';
import { realClock } from '../lib/clock.ts';
import type { NodeSupervisor } from './node-supervisor.ts';

const LOOPBACK = '127.0.0.1';
const PATIENCE_MS = 30_000;

/**
 * Where Pods find what listens on this machine: the machine's end of the link to their network, which the agent makes; loopback where they
 * share the machine's network, or there is no node.
 */
export async function addressForPods(node: NodeSupervisor | undefined, data: string): Promise<string> {
  if (!node) return LOOPBACK;
  await new Promise<void>((resolve, reject) => {
    const late = realClock.setTimer(PATIENCE_MS, () =>
      reject(new Error('the node agent, which makes the network of Pods, does not get ready')),
    );
    late.hold?.();
    void node.whenReady().then(() => (late.cancel(), resolve()));
  });
  const link = networkInterfaces()[uplinkName(instanceId(join(data, 'node')))];
  return link?.find(({ family }) => family === 'IPv4')?.address ?? LOOPBACK;
}
