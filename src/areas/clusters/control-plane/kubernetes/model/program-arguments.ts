import { STORE_BYTES } from '../../process/model/store-bytes.ts';

export const SERVICE_RANGE = '10.96.0.0/16';
export const SERVICE_ADDRESS = '10.96.0.1';
const POD_RANGE = '10.244.0.0/16';
export const ETCD_LIMITS = [quotaArgument(STORE_BYTES), '--log-level=warn'];

export function quotaArgument(bytes: number): string {
  return `--quota-backend-bytes=${bytes}`;
}

export function keysIn(folder: string): (name: string) => string {
  return (name) => `${folder}/${name}`;
}

/** Where a program finds its keys, and what is different from place to place. */
export interface ApiserverPlace {
  keys: string;
  etcdServers: string;
  listenAddress: string;
  /** What nodes are told to reach it by; undefined: an address that nobody else can reach. */
  advertisedAddress: string | undefined;
  port: number;
}

export function apiserverArguments(place: ApiserverPlace): string[] {
  const key = keysIn(place.keys);
  return [
    `--etcd-servers=${place.etcdServers}`,
    `--etcd-cafile=${key('etcd-ca.crt')}`,
    `--etcd-certfile=${key('apiserver-etcd-client.crt')}`,
    `--etcd-keyfile=${key('apiserver-etcd-client.key')}`,
    `--encryption-provider-config=${key('encryption.json')}`,
    `--bind-address=${place.listenAddress}`,
    // One that nobody else can reach is not written into the Service `kubernetes`.
    place.advertisedAddress === undefined ? '--endpoint-reconciler-type=none' : `--advertise-address=${place.advertisedAddress}`,
    `--secure-port=${place.port}`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    `--tls-cert-file=${key('apiserver.crt')}`,
    `--tls-private-key-file=${key('apiserver.key')}`,
    `--client-ca-file=${key('ca.crt')}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-signing-key-file=${key('sa.key')}`,
    `--service-account-key-file=${key('sa.pub')}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--enable-bootstrap-token-auth',
    // Webhooks and extension API servers are reached at their Pods: Services are the nodes' business.
    '--enable-aggregator-routing',
    `--requestheader-client-ca-file=${key('front-proxy-ca.crt')}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-username-headers=X-Remote-User',
    `--proxy-client-cert-file=${key('front-proxy-client.crt')}`,
    `--proxy-client-key-file=${key('front-proxy-client.key')}`,
    `--kubelet-certificate-authority=${key('ca.crt')}`,
    `--kubelet-client-certificate=${key('apiserver-kubelet-client.crt')}`,
    `--kubelet-client-key=${key('apiserver-kubelet-client.key')}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--egress-selector-config-file=${key('egress.json')}`,
    '--profiling=false',
  ];
}

export interface TunnelPlace {
  keys: string;
  socket: string;
  listenAddress: string;
  tunnelPort: number;
  /** Of its administration and its health. */
  innerPorts: readonly number[];
  servers: number;
}

export function konnectivityArguments({
  keys,
  socket,
  listenAddress,
  tunnelPort,
  innerPorts: [admin, health],
  servers,
}: TunnelPlace): string[] {
  const key = keysIn(keys);
  return [
    '--mode=grpc',
    `--uds-name=${socket}`,
    '--server-port=0',
    `--agent-bind-address=${listenAddress}`,
    `--agent-port=${tunnelPort}`,
    // A worker shows the certificate of its node.
    `--cluster-ca-cert=${key('ca.crt')}`,
    `--cluster-cert=${key('konnectivity-server.crt')}`,
    `--cluster-key=${key('konnectivity-server.key')}`,
    '--admin-bind-address=127.0.0.1',
    `--admin-port=${admin}`,
    '--health-bind-address=127.0.0.1',
    `--health-port=${health}`,
    '--proxy-strategies=destHost,default',
    `--server-count=${servers}`,
    '--v=0',
  ];
}

export function controllerManagerArguments({ keys, leaderElect }: { keys: string; leaderElect: boolean }): string[] {
  const key = keysIn(keys);
  const kubeconfig = key('controller-manager.conf');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    // Who may become a node is the platform's to say.
    '--controllers=*,bootstrapsigner,tokencleaner,-certificatesigningrequest-approving-controller',
    `--leader-elect=${leaderElect}`,
    '--secure-port=0',
    '--use-service-account-credentials',
    `--service-account-private-key-file=${key('sa.key')}`,
    `--root-ca-file=${key('ca.crt')}`,
    `--cluster-signing-cert-file=${key('ca-signing.crt')}`,
    `--cluster-signing-key-file=${key('ca.key')}`,
    '--allocate-node-cidrs',
    `--cluster-cidr=${POD_RANGE}`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--profiling=false',
  ];
}

export function schedulerArguments({ keys, leaderElect }: { keys: string; leaderElect: boolean }): string[] {
  const key = keysIn(keys);
  const kubeconfig = key('scheduler.conf');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--leader-elect=${leaderElect}`,
    '--secure-port=0',
    '--profiling=false',
  ];
}
