import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { addressAt, ipv4Range } from '../../../kube/ipv4-range.ts';
import { chooseRange, POD_RANGES } from './addresses/pod-ranges.ts';
import { namespacePath } from './kernel/namespaces.ts';
import { machineRoutes, uplinkName, type RouterPlan } from './links/router.ts';
import type { NetworkOptions } from './network-options.ts';

/** The first addresses of the Pods' range are the instance's own, so that no second range is needed. */
const NODE = 1;
const UPLINK_ADDRESS = 2;
const PROXY = 3;
export const FIRST_POD = 16;

/** The API server's Service has the first address of its range, DNS the tenth, as in most clusters. */
const API_ADDRESS = 1;
export const DNS_ADDRESS = 10;

export interface NetworkPlan {
  router: RouterPlan;
  api: string;
  dns: string;
}

export async function planNetwork(options: NetworkOptions, remembered: { podCidr?: string }): Promise<NetworkPlan> {
  const id = instanceId(options.dir);
  const machine = options.machineNamespace === undefined ? undefined : namespacePath(options.machineNamespace);
  const podCidr = options.podCidr ?? (await freeRange(id, machine, options.serviceCidr, remembered.podCidr));
  const pods = ipv4Range(podCidr);
  const services = ipv4Range(options.serviceCidr);
  if (pods.last - pods.first < 2 * FIRST_POD) {
    throw new Error(`Cannot use "${podCidr}" for Pods: it has fewer than ${2 * FIRST_POD} addresses; name a larger range with podCidr`);
  }
  return {
    router: {
      id,
      machine,
      podCidr,
      serviceCidr: options.serviceCidr,
      node: addressAt(pods, NODE),
      proxy: addressAt(pods, PROXY),
      uplink: addressAt(pods, UPLINK_ADDRESS),
      egress: options.egress ?? true,
    },
    api: addressAt(services, API_ADDRESS),
    dns: addressAt(services, DNS_ADDRESS),
  };
}

export function instanceId(dir: string): string {
  return createHash('sha256').update(resolve(dir)).digest('hex').slice(0, 8);
}

/** The range of before, if it is still free: running Pods have addresses of it. A route of ours is as good a memory as the file. */
async function freeRange(id: string, machine: string | undefined, serviceCidr: string, before: string | undefined): Promise<string> {
  const routes = await machineRoutes(machine);
  const taken = routes.filter(({ dev }) => dev !== uplinkName(id)).map(({ dst }) => dst);
  const own = routes.find(({ dst, dev }) => dev === uplinkName(id) && !dst.endsWith('/32') && dst !== serviceCidr)?.dst;
  const known = before ?? own;
  return chooseRange(known === undefined ? POD_RANGES : [known, ...POD_RANGES], [...taken, serviceCidr]);
}
