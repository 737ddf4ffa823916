import type { UnderClusterPlane } from '../control-plane-objects.ts';

const PAIRS = [
  'ca',
  'etcd-ca',
  'etcd-server',
  'etcd-peer',
  'etcd-healthcheck-client',
  'apiserver',
  'apiserver-kubelet-client',
  'apiserver-etcd-client',
  'front-proxy-ca',
  'front-proxy-client',
  'konnectivity-server',
  'controller-manager',
  'scheduler',
  'admin',
  'owner-0',
];
const FILES = ['ca-signing.crt', 'sa.key', 'sa.pub', 'encryption.json', 'egress.json', 'controller-manager.conf', 'scheduler.conf'];

/** The control plane of a cluster `dev`, with keys that are just words, apart from what is said about it. */
export function aPlane(changes: Partial<UnderClusterPlane> = {}): UnderClusterPlane {
  const files = [...PAIRS.flatMap((name) => [`${name}.crt`, `${name}.key`]), ...FILES];
  return {
    name: 'dev',
    namespace: 'tenant-acme',
    images: {
      etcd: 'registry.example/etcd:3.6.8',
      apiserver: 'registry.example/kube-apiserver:v1.35.4',
      controllerManager: 'registry.example/kube-controller-manager:v1.35.4',
      scheduler: 'registry.example/kube-scheduler:v1.35.4',
      konnectivity: 'registry.example/proxy-server:v0.34.0',
    },
    replicas: 1,
    etcdReplicas: 1,
    storage: { size: '8Gi' },
    keys: Object.fromEntries(files.map((file) => [file, `the text of ${file}`])),
    sources: ['10.0.1.0/24'],
    ownersGroup: 'acme-owners',
    ...changes,
  };
}
