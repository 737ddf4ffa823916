import type { ProgramName, ProgramPlan, ProgramSpec } from './program-plan.ts';

/** The addresses and ports of one control plane, and where its programs are. */
export interface PlaneLayout {
  /** Folder of etcd, kube-apiserver and the others. */
  paths: Readonly<Record<ProgramName, string>>;
  /** Where the programs find the API server and each other. */
  innerAddress: string;
  /** Where the API server and the tunnel listen: the same one, or all there are in a network of their own. */
  listenAddress: string;
  /** What nodes are told to reach the API server by. */
  advertisedAddress: string;
  port: number;
  tunnelPort: number;
  /** Of konnectivity's administration and health. */
  innerPorts: readonly number[];
  withParent: readonly string[];
}

/** The programs run in the cluster's data folder; keys are beside it. */
export const KEYS = '../pki';
/** etcd takes only what looks like a host with a port; it is the name of a socket in the data folder. */
export const ETCD_SOCKET = 'etcd:0';
const PEER_SOCKET = 'peer:0';
/** What etcd's certificate must be good for: the sockets' names without what looks like a port. */
export const ETCD_HOSTS = ['etcd', 'peer'];
export const STORE_FOLDER = 'store';
export const KONNECTIVITY_SOCKET = 'konnectivity.sock';
export const SERVICE_RANGE = '10.96.0.0/16';
export const SERVICE_ADDRESS = '10.96.0.1';
const POD_RANGE = '10.244.0.0/16';
const STORE_BYTES = 2 * 1024 ** 3;

/** Of etcd, where it starts and where a snapshot becomes its store. */
export const ETCD_MEMBER = [
  '--name=etcd',
  `--initial-advertise-peer-urls=unixs://${PEER_SOCKET}`,
  `--initial-cluster=etcd=unixs://${PEER_SOCKET}`,
];

/** Some make paths absolute, and the cluster's user may not enter the folders above its own. */
export function inDataFolder(name: string): string {
  return `/proc/self/cwd/${name}`;
}

const key = (name: string): string => `${KEYS}/${name}`;

export function programPlan(layout: PlaneLayout): ProgramPlan {
  const { paths, withParent } = layout;
  const program = (name: ProgramName, args: string[], more: Partial<ProgramSpec> = {}): ProgramSpec => ({
    name,
    path: paths[name],
    args,
    afterReady: false,
    readsKeysOnce: false,
    ...more,
  });
  return {
    server: { address: layout.innerAddress, port: layout.port },
    withParent,
    programs: [
      program('etcd', etcdArguments()),
      program('kube-apiserver', apiserverArguments(layout)),
      program('konnectivity-server', konnectivityArguments(layout), { readsKeysOnce: true }),
      program('kube-controller-manager', controllerManagerArguments(), { afterReady: true }),
      program('kube-scheduler', schedulerArguments(), { afterReady: true }),
    ],
  };
}

function etcdArguments(): string[] {
  return [
    ...ETCD_MEMBER,
    `--data-dir=${inDataFolder(STORE_FOLDER)}`,
    `--listen-client-urls=unixs://${ETCD_SOCKET}`,
    `--advertise-client-urls=unixs://${ETCD_SOCKET}`,
    `--listen-peer-urls=unixs://${PEER_SOCKET}`,
    `--cert-file=${key('etcd-server.crt')}`,
    `--key-file=${key('etcd-server.key')}`,
    `--trusted-ca-file=${key('etcd-ca.crt')}`,
    '--client-cert-auth',
    `--peer-cert-file=${key('etcd-peer.crt')}`,
    `--peer-key-file=${key('etcd-peer.key')}`,
    `--peer-trusted-ca-file=${key('etcd-ca.crt')}`,
    '--peer-client-cert-auth',
    `--quota-backend-bytes=${STORE_BYTES}`,
    '--log-level=warn',
  ];
}

function apiserverArguments({ listenAddress, advertisedAddress, port }: PlaneLayout): string[] {
  return [
    `--etcd-servers=unixs://${ETCD_SOCKET}`,
    `--etcd-cafile=${key('etcd-ca.crt')}`,
    `--etcd-certfile=${key('apiserver-etcd-client.crt')}`,
    `--etcd-keyfile=${key('apiserver-etcd-client.key')}`,
    `--encryption-provider-config=${key('encryption.json')}`,
    `--bind-address=${listenAddress}`,
    // An address that nobody else can reach is not written into the Service `kubernetes`.
    ...(advertisedAddress.startsWith('127.') ? ['--endpoint-reconciler-type=none'] : [`--advertise-address=${advertisedAddress}`]),
    `--secure-port=${port}`,
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

function konnectivityArguments({ listenAddress, tunnelPort, innerPorts: [admin, health] }: PlaneLayout): string[] {
  return [
    '--mode=grpc',
    `--uds-name=${KONNECTIVITY_SOCKET}`,
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
    '--server-count=1',
    '--v=0',
  ];
}

function controllerManagerArguments(): string[] {
  const kubeconfig = key('controller-manager.conf');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    // Who may become a node is the platform's to say.
    '--controllers=*,bootstrapsigner,tokencleaner,-certificatesigningrequest-approving-controller',
    '--leader-elect=false',
    '--secure-port=0',
    '--use-service-account-credentials',
    `--service-account-private-key-file=${key('sa.key')}`,
    `--root-ca-file=${key('ca.crt')}`,
    `--cluster-signing-cert-file=${key('ca.crt')}`,
    `--cluster-signing-key-file=${key('ca.key')}`,
    '--allocate-node-cidrs',
    `--cluster-cidr=${POD_RANGE}`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--profiling=false',
  ];
}

function schedulerArguments(): string[] {
  const kubeconfig = key('scheduler.conf');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--secure-port=0',
    '--profiling=false',
  ];
}
