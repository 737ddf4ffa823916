import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { ipv4Range, toText } from '../../../../kube/ipv4-range.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import type { RunningControlPlane } from '../../control-plane/control-planes.ts';
import type { WantedMachine } from '../../machines/machines.ts';
import type { WorkerPlace } from '../../vpc/tenant-networks.ts';
import { machineId, POOL_DEFAULTS, type NodePool, type Worker } from './pool-plan.ts';

/** What control planes give to Services that are not told otherwise. */
const SERVICE_RANGES: Record<string, string> = { embedded: '10.0.0.0/24', kubernetes: '10.96.0.0/16' };
/** Addresses of Pods on one worker: a /24. */
const POD_ADDRESSES = 256;

export interface WorkerSurroundings {
  pool: NodePool;
  place: WorkerPlace;
  running: Pick<RunningControlPlane, 'endpoint' | 'authorityPem' | 'tunnel'>;
  /** Empty for one that has joined. */
  token: string;
}

export function wantedMachine({ metadata, status }: TenantCluster, worker: Worker, around: WorkerSurroundings): WantedMachine {
  const { pool, place, running, token } = around;
  const network = status!.network!;
  const amount = (of: 'cpu' | 'memory' | 'disk') => Quantity.parse(pool[of] ?? POOL_DEFAULTS[of]);
  const { hostname, port } = new URL(running.endpoint);
  return {
    id: machineId(metadata.uid!, worker.name),
    cluster: metadata.uid!,
    name: worker.name,
    cpus: Math.max(1, Math.ceil(amount('cpu').milliValue() / 1000)),
    memoryBytes: Math.ceil(amount('memory').milliValue() / 1000),
    diskBytes: Math.ceil(amount('disk').milliValue() / 1000),
    network: { ...place, dns: dnsServers(network) },
    join: {
      server: running.endpoint,
      authorityPem: running.authorityPem,
      token,
      // Our own takes tunnels where it takes everything else.
      tunnel: running.tunnel ?? { address: hostname.replaceAll(/[[\]]/g, ''), port: Number(port) },
    },
    settings: {
      'service-range': network.serviceCidr ?? SERVICE_RANGES[status!.provider ?? 'embedded'],
      'node-port-address': worker.address,
      ...imageMirror(network),
      ...(worker.podCidrs?.[0] === undefined ? {} : { 'pod-range': worker.podCidrs[0] }),
    },
  };
}

type ClusterNetwork = NonNullable<NonNullable<TenantCluster['status']>['network']>;

function dnsServers({ address, listeners = [] }: ClusterNetwork): string[] {
  return [...new Set(listeners.filter(({ name }) => name === 'names').map((listener) => listener.address ?? address))];
}

function imageMirror({ address, listeners = [] }: ClusterNetwork): Record<string, string> {
  const images = listeners.find(({ name }) => name === 'images');
  return images === undefined ? {} : { 'image-mirror': `${images.address ?? address}:${images.port}` };
}

/** A part of the cluster's range of Pods that none of its workers has; undefined when there is none left. */
export function freePodRange(range: string, taken: readonly string[]): string | undefined {
  const { first, last } = ipv4Range(range);
  const used = new Set(taken);
  for (let start = first; start + POD_ADDRESSES - 1 <= last; start += POD_ADDRESSES) {
    const cidr = `${toText(start)}/24`;
    if (!used.has(cidr)) return cidr;
  }
  return undefined;
}
