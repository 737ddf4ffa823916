import type { KubeObject } from '../../../../kube/object.ts';
import type { KeyNeeds } from '../kubernetes/kubernetes-keys.ts';
import { apiServer, controllerManager, scheduler, TUNNEL_SOCKET } from './api-objects.ts';
import { etcdHosts, etcdObjects } from './etcd-objects.ts';
import { networkPolicies } from './network-policies.ts';
import { API_PORT, KEY_FOLDER, nameOf } from './plane-parts.ts';
import { accessObjects, keySecrets } from './secret-objects.ts';

/** What a control plane on another Kubernetes is made of. */
export interface UnderClusterPlane {
  /** At most 40 characters: names of its parts are made of it. */
  name: string;
  /** The tenant's namespace on the under-cluster. */
  namespace: string;
  images: { etcd: string; apiserver: string; controllerManager: string; scheduler: string; konnectivity: string };
  /** Of the API server, the controllers and the scheduler. */
  replicas: number;
  /** An odd number. */
  etcdReplicas: number;
  storage: { size: string; className?: string };
  /** The files of its keys by name, as `ensureKubernetesKeys` makes them; kubeconfigs name files below KEY_FOLDER. */
  keys: Readonly<Record<string, string>>;
  /** Ranges that its workers and users come from. */
  sources: readonly string[];
  /** The group that may read the owners' kubeconfig on the under-cluster. */
  ownersGroup: string;
}

/** What the keys of such a control plane have to be good for. */
export function underClusterKeyNeeds(plane: Pick<UnderClusterPlane, 'name' | 'namespace'>): KeyNeeds {
  const service = nameOf(plane, 'api');
  const host = `${service}.${plane.namespace}.svc`;
  return {
    addresses: [],
    hosts: [service, host],
    server: `https://${host}:${API_PORT}`,
    etcdHosts: etcdHosts(plane),
    keyFolder: KEY_FOLDER,
    tunnelSocket: TUNNEL_SOCKET,
  };
}

/** All objects of a control plane, in the order in which each needs those before it. */
export function controlPlaneObjects(plane: UnderClusterPlane): KubeObject[] {
  const secrets = keySecrets(plane);
  return [
    ...accessObjects(plane),
    ...Object.values(secrets),
    ...networkPolicies(plane),
    ...etcdObjects(plane, secrets),
    ...apiServer(plane, secrets),
    ...controllerManager(plane, secrets),
    ...scheduler(plane, secrets),
  ];
}
