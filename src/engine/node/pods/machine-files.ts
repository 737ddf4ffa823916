import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kernelHostname, podHostname, podHostsFile } from '../environment/hosts-file.ts';
import { podResolvConf } from '../environment/resolv-conf.ts';
import type { PodNetwork } from '../network/pod-network.ts';
import type { PodObject } from './model/pod-object.ts';
import type { PodEvents } from './pod-events.ts';
import type { NetworkFiles } from './pod-files.ts';

/** What the machine itself resolves names with. */
export interface MachineFiles {
  hosts: string;
  resolvConf: string;
}

export async function machineFiles(folder = '/etc'): Promise<MachineFiles> {
  const read = (file: string) => readFile(join(folder, file), 'utf8').catch(() => '');
  const [hosts, resolvConf] = await Promise.all([read('hosts'), read('resolv.conf')]);
  return { hosts, resolvConf };
}

/** The files by which a Pod resolves names, its own included. */
export function networkFiles(
  pod: PodObject,
  addresses: readonly string[],
  { dns }: Pick<PodNetwork, 'dns'>,
  machine: MachineFiles,
  events: PodEvents,
): NetworkFiles {
  const clusterDomain = dns?.domain ?? 'cluster.local';
  const clusterDns = dns === undefined ? [] : [dns.address];
  const { content, notes } = podResolvConf(pod, { clusterDns, clusterDomain, nodeResolvConf: machine.resolvConf });
  // That this node has no cluster DNS is said once, on the Node.
  for (const { reason, message } of notes) if (reason !== 'MissingClusterDNS') events.record(pod, 'Warning', reason, message);
  return {
    hosts: podHostsFile(pod, { podIp: addresses[0] ?? '', clusterDomain, nodeHosts: machine.hosts }),
    resolvConf: content,
    hostname: kernelHostname(pod, podHostname(pod, clusterDomain)),
  };
}
