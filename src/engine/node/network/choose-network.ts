import { errorText } from '../../../lib/log.ts';
import { runCommand } from './kernel/commands.ts';
import { NAMESPACE_FOLDER } from './kernel/namespaces.ts';
import { createNamespacedNetwork } from './namespaced-network.ts';
import type { NetworkOptions } from './network-options.ts';
import type { PodNetwork } from './pod-network.ts';
import { createSharedNetwork, type SharedNetworkOptions } from './shared-network.ts';

const SHARED =
  'Pods share the network of this machine: they reach each other, Services have node ports only, and NetworkPolicies are not enforced';

/** Networks of their own for Pods when the machine lets us, else the machine's. The Node says which, and why. */
export async function chooseNetwork(options: NetworkOptions): Promise<PodNetwork> {
  const obstacle = await findObstacle();
  return obstacle ? createSharedNetwork({ ...options, ...obstacle }) : createNamespacedNetwork(options);
}

type Obstacle = Pick<SharedNetworkOptions, 'reason' | 'message'>;

async function findObstacle(): Promise<Obstacle | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return { reason: 'NotRoot', message: `${SHARED}; run as root on Linux for networks of their own` };
  }
  // By doing it: what a container or an old kernel forbids shows only then.
  const name = `tenantry-probe-${process.pid}`;
  try {
    await runCommand('nft', ['--version']);
    await runCommand('nsenter', ['--version']);
    await runCommand('ip', ['netns', 'add', name]);
  } catch (error) {
    return {
      reason: 'NftablesMissing',
      message: `${SHARED}; install nftables, iproute2 and util-linux (${errorText(error).slice(0, 200)})`,
    };
  }
  try {
    const rules = 'table ip probe { chain c { type filter hook forward priority 0; ct state invalid drop; }; }';
    await runCommand('nft', ['-f', '-'], { namespace: `${NAMESPACE_FOLDER}/${name}`, input: rules });
    return undefined;
  } catch (error) {
    return { reason: 'NftablesMissing', message: `${SHARED}; this kernel refuses nftables rules (${errorText(error).slice(0, 200)})` };
  } finally {
    await runCommand('ip', ['netns', 'delete', name]).catch(() => {});
  }
}
