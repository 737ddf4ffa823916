import type { KubeObject } from '../../../../kube/object.ts';
import {
  apiserverArguments,
  controllerManagerArguments,
  konnectivityArguments,
  schedulerArguments,
} from '../kubernetes/model/program-arguments.ts';
import type { UnderClusterPlane } from './control-plane-objects.ts';
import { etcdServers } from './etcd-objects.ts';
import {
  API_PORT,
  containerOf,
  disruptionBudget,
  KEY_FOLDER,
  labelsOf,
  metadataOf,
  podSpecOf,
  templateMetadata,
  TUNNEL_PORT,
  type ContainerOptions,
  type KeySecrets,
  type Part,
} from './plane-parts.ts';

/** The folder of the socket between the API server and the tunnel, which `egress.json` names. */
export const TUNNEL_FOLDER = '/run/konnectivity';
export const TUNNEL_SOCKET = `${TUNNEL_FOLDER}/konnectivity.sock`;
const TUNNEL_INNER_PORTS = [8133, 8134];

export function apiServer(plane: UnderClusterPlane, secrets: KeySecrets): KubeObject[] {
  const socket = { name: 'tunnel', mountPath: TUNNEL_FOLDER };
  const containers = [containerOf(apiserverContainer(plane, socket)), containerOf(tunnelContainer(plane, socket))];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadataOf(plane, 'api'),
      spec: {
        selector: labelsOf(plane, 'apiserver'),
        ports: [
          { name: 'api', port: API_PORT },
          { name: 'tunnel', port: TUNNEL_PORT },
        ],
      },
    },
    deployment(plane, 'apiserver', secrets, containers, [{ name: 'tunnel', emptyDir: {} }]),
    disruptionBudget(plane, 'apiserver'),
  ];
}

function apiserverContainer(plane: UnderClusterPlane, socket: object): ContainerOptions {
  const place = {
    keys: KEY_FOLDER,
    etcdServers: etcdServers(plane),
    listenAddress: '0.0.0.0',
    advertisedAddress: '$(POD_IP)',
    port: API_PORT,
  };
  const probe = (path: string) => ({ httpGet: { path, port: API_PORT, scheme: 'HTTPS' }, periodSeconds: 5 });
  return {
    name: 'kube-apiserver',
    image: plane.images.apiserver,
    command: ['kube-apiserver', ...apiserverArguments(place)],
    env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
    ports: [{ name: 'api', containerPort: API_PORT }],
    mounts: [socket],
    probes: {
      startupProbe: { ...probe('/livez'), failureThreshold: 60 },
      livenessProbe: probe('/livez'),
      readinessProbe: probe('/readyz'),
    },
    requests: { cpu: '250m', memory: '512Mi' },
    memoryLimit: '4Gi',
  };
}

function tunnelContainer(plane: UnderClusterPlane, socket: object): ContainerOptions {
  const place = {
    keys: KEY_FOLDER,
    socket: TUNNEL_SOCKET,
    listenAddress: '0.0.0.0',
    tunnelPort: TUNNEL_PORT,
    innerPorts: TUNNEL_INNER_PORTS,
  };
  return {
    name: 'konnectivity-server',
    image: plane.images.konnectivity,
    command: ['/proxy-server', ...konnectivityArguments({ ...place, servers: plane.replicas })],
    ports: [{ name: 'tunnel', containerPort: TUNNEL_PORT }],
    mounts: [socket],
    requests: { cpu: '20m', memory: '64Mi' },
    memoryLimit: '512Mi',
  };
}

export function controllerManager(plane: UnderClusterPlane, secrets: KeySecrets): KubeObject[] {
  const place = { keys: KEY_FOLDER, leaderElect: plane.replicas > 1 };
  const container = containerOf({
    name: 'kube-controller-manager',
    image: plane.images.controllerManager,
    command: ['kube-controller-manager', ...controllerManagerArguments(place)],
    requests: { cpu: '50m', memory: '128Mi' },
    memoryLimit: '1Gi',
  });
  return [deployment(plane, 'controller-manager', secrets, [container]), disruptionBudget(plane, 'controller-manager')];
}

export function scheduler(plane: UnderClusterPlane, secrets: KeySecrets): KubeObject[] {
  const container = containerOf({
    name: 'kube-scheduler',
    image: plane.images.scheduler,
    command: ['kube-scheduler', ...schedulerArguments({ keys: KEY_FOLDER, leaderElect: plane.replicas > 1 })],
    requests: { cpu: '20m', memory: '64Mi' },
    memoryLimit: '512Mi',
  });
  return [deployment(plane, 'scheduler', secrets, [container]), disruptionBudget(plane, 'scheduler')];
}

/** The new ones are there before the old ones go: an upgrade is not an outage. */
function deployment(plane: UnderClusterPlane, part: Part, secrets: KeySecrets, containers: object[], volumes: object[] = []): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(plane, part),
    spec: {
      replicas: plane.replicas,
      selector: { matchLabels: labelsOf(plane, part) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: { metadata: templateMetadata(plane, part, secrets), spec: podSpecOf(plane, part, containers, volumes) },
    },
  };
}
