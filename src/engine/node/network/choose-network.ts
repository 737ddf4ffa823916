import { errorText } from '../../../lib/log.ts';
import { runCommand, runNft } from './kernel/commands.ts';
import { namespacePath } from './kernel/namespaces.ts';
import { GATEWAY } from './links/router.ts';
import { createNamespacedNetwork } from './namespaced-network.ts';
import type { NetworkOptions } from './network-options.ts';
import type { PodNetwork } from './pod-network.ts';
import { PolicyModel } from './policies/model/policy-model.ts';
import { routerTable } from './ruleset/router-table.ts';
import { ServiceRules } from './services/model/service-rules.ts';
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
    await runNft(sampleRules(), namespacePath(name));
    return undefined;
  } catch (error) {
    return { reason: 'NftablesMissing', message: `${SHARED}; this kernel refuses nftables rules (${errorText(error).slice(0, 200)})` };
  } finally {
    await runCommand('ip', ['netns', 'delete', name]).catch(() => {});
  }
}

/** Everything that is ever asked of the kernel, once. */
function sampleRules(): string {
  const table = routerTable({ node: '192.0.2.1', gateway: GATEWAY, uplink: '192.0.2.2' });
  const model = new PolicyModel(table);
  const services = new ServiceRules(table, new Set());
  const pod = { namespace: 'a', name: 'a', labels: {}, addresses: ['192.0.2.16'], ports: [], subject: true };
  model.setPod({ ...pod, uid: 'a' });
  const rule = {
    from: [{ podSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
    ports: [{ port: 1, endPort: 2 }],
  };
  const spec = { podSelector: {}, policyTypes: ['Ingress', 'Egress'], ingress: [rule], egress: [{}] };
  model.setPolicy({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { namespace: 'a', name: 'a' }, spec });
  for (const _ of model.settle());
  const endpoints = [{ address: '192.0.2.16', port: 80 }];
  const port = { id: 'a', protocol: 'tcp' as const, clusterIps: ['192.0.2.3'], port: 80, endpoints };
  services.set('a', [port]);
  services.set('b', [{ ...port, id: 'b', clusterIps: ['192.0.2.4'], affinitySeconds: 60 }]);
  return table.takeWhole();
}
