import type { GroupResource, Json, KubeObject } from '../../../kube/object.ts';

export const API_SERVICES: GroupResource = { group: 'apiregistration.k8s.io', resource: 'apiservices' };
const DEFAULT_PORT = 443;

/** One version of a group that another server serves. */
export interface RemoteApi {
  /** Of the APIService: `v1beta1.metrics.k8s.io`. */
  name: string;
  group: string;
  version: string;
  service: { namespace: string; name: string; port: number };
  /** PEM. */
  caBundle?: string;
  insecureSkipTLSVerify: boolean;
  /** Its condition Available is True. */
  available: boolean;
  groupPriority: number;
  versionPriority: number;
}

export function apiServiceName(group: string, version: string): string {
  return `${version}.${group}`;
}

/** Undefined for APIServices that this server answers itself. */
export function toRemoteApi(apiService: KubeObject): RemoteApi | undefined {
  const { service, group = '', version, caBundle, insecureSkipTLSVerify, groupPriorityMinimum, versionPriority } = apiService.spec ?? {};
  if (!service) return undefined;
  return {
    name: apiService.metadata.name!,
    group,
    version,
    service: { namespace: service.namespace, name: service.name, port: service.port ?? DEFAULT_PORT },
    caBundle: caBundle ? Buffer.from(caBundle, 'base64').toString() : undefined,
    insecureSkipTLSVerify: insecureSkipTLSVerify === true,
    available: isAvailable(apiService),
    groupPriority: groupPriorityMinimum ?? 0,
    versionPriority: versionPriority ?? 0,
  };
}

export function isAvailable(apiService: KubeObject): boolean {
  return (apiService.status?.conditions ?? []).some((condition: Json) => condition.type === 'Available' && condition.status === 'True');
}

/** The name in the certificate that a server behind an APIService shows. */
export function serverNameOf({ service }: RemoteApi): string {
  return `${service.name}.${service.namespace}.svc`;
}
