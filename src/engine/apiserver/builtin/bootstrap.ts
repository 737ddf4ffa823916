import type { KubeObject } from '../../../kube/object.ts';
import { readRecordedJson } from './recorded.ts';

export interface BootstrapOptions {
  /** The port that this server listens on, where its own Service leads. */
  port: number;
  /** Range and first address of Services. */
  clusterIpRange?: string;
  clusterIp?: string;
}

/** Where Pods find the API server. */
export const KUBERNETES_SERVICE_ADDRESS = '10.0.0.1';

/**
 * What a fresh kube-apiserver makes for itself besides RBAC policy, in the order in which to make it: the namespaces, its own Service,
 * priority levels and flow schemas, the range of Services, the system's priority classes.
 */
export function bootstrapObjects({
  port,
  clusterIpRange = '10.0.0.0/24',
  clusterIp = KUBERNETES_SERVICE_ADDRESS,
}: BootstrapOptions): KubeObject[] {
  const objects = readRecordedJson('bootstrap.json') as KubeObject[];
  for (const { kind, spec } of objects) {
    if (kind === 'Service') {
      spec.ports[0].targetPort = port;
      spec.clusterIP = clusterIp;
      spec.clusterIPs = [clusterIp];
    }
    if (kind === 'ServiceCIDR') spec.cidrs = [clusterIpRange];
  }
  return objects;
}
