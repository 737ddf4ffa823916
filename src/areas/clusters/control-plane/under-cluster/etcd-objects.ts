import type { KubeObject } from '../../../../kube/object.ts';
import { ETCD_LIMITS, keysIn } from '../kubernetes/model/program-arguments.ts';
import type { UnderClusterPlane } from './control-plane-objects.ts';
import {
  containerOf,
  disruptionBudget,
  ETCD_PEER_PORT,
  ETCD_PORT,
  KEY_FOLDER,
  labelsOf,
  metadataOf,
  nameOf,
  podSpecOf,
  templateMetadata,
  type KeySecrets,
} from './plane-parts.ts';

const METRICS_PORT = 2381;
const DATA_FOLDER = '/var/lib/etcd';

/** Members are known by their Pods' names, which the certificate must cover. */
export function etcdHosts(plane: Pick<UnderClusterPlane, 'name' | 'namespace'>): string[] {
  const service = nameOf(plane, 'etcd');
  const domain = `${service}.${plane.namespace}.svc`;
  return [service, domain, `*.${domain}`, 'localhost'];
}

export function etcdServers(plane: UnderClusterPlane): string {
  return memberNames(plane)
    .map((member) => `https://${hostOf(plane, member)}:${ETCD_PORT}`)
    .join(',');
}

export function etcdObjects(plane: UnderClusterPlane, secrets: KeySecrets): KubeObject[] {
  const { size, className } = plane.storage;
  const claim = {
    metadata: { name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: size } },
      ...(className === undefined ? {} : { storageClassName: className }),
    },
  };
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadataOf(plane, 'etcd'),
      spec: {
        clusterIP: 'None',
        // Members find each other before any of them is ready.
        publishNotReadyAddresses: true,
        selector: labelsOf(plane, 'etcd'),
        ports: [
          { name: 'client', port: ETCD_PORT },
          { name: 'peer', port: ETCD_PEER_PORT },
        ],
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: metadataOf(plane, 'etcd'),
      spec: {
        replicas: plane.etcdReplicas,
        serviceName: nameOf(plane, 'etcd'),
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: labelsOf(plane, 'etcd') },
        // What it holds is the cluster: it goes with the cluster, not with a change of replicas.
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
        template: { metadata: templateMetadata(plane, 'etcd', secrets), spec: podSpecOf(plane, 'etcd', [etcdContainer(plane)]) },
        volumeClaimTemplates: [claim],
      },
    },
    disruptionBudget(plane, 'etcd'),
  ];
}

function etcdContainer(plane: UnderClusterPlane): object {
  const key = keysIn(KEY_FOLDER);
  const host = hostOf(plane, '$(POD_NAME)');
  const members = memberNames(plane).map((member) => `${member}=https://${hostOf(plane, member)}:${ETCD_PEER_PORT}`);
  const health = { httpGet: { path: '/readyz', port: METRICS_PORT }, periodSeconds: 5, failureThreshold: 3 };
  return containerOf({
    name: 'etcd',
    image: plane.images.etcd,
    command: [
      'etcd',
      '--name=$(POD_NAME)',
      `--data-dir=${DATA_FOLDER}/store`,
      `--listen-client-urls=https://0.0.0.0:${ETCD_PORT}`,
      `--advertise-client-urls=https://${host}:${ETCD_PORT}`,
      `--listen-peer-urls=https://0.0.0.0:${ETCD_PEER_PORT}`,
      `--initial-advertise-peer-urls=https://${host}:${ETCD_PEER_PORT}`,
      `--initial-cluster=${members.join(',')}`,
      `--listen-metrics-urls=http://0.0.0.0:${METRICS_PORT}`,
      `--cert-file=${key('etcd-server.crt')}`,
      `--key-file=${key('etcd-server.key')}`,
      `--trusted-ca-file=${key('etcd-ca.crt')}`,
      '--client-cert-auth',
      `--peer-cert-file=${key('etcd-peer.crt')}`,
      `--peer-key-file=${key('etcd-peer.key')}`,
      `--peer-trusted-ca-file=${key('etcd-ca.crt')}`,
      '--peer-client-cert-auth',
      ...ETCD_LIMITS,
    ],
    env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    ports: [
      { name: 'client', containerPort: ETCD_PORT },
      { name: 'peer', containerPort: ETCD_PEER_PORT },
      { name: 'metrics', containerPort: METRICS_PORT },
    ],
    mounts: [{ name: 'data', mountPath: DATA_FOLDER }],
    probes: { startupProbe: { ...health, failureThreshold: 60 }, readinessProbe: health },
    requests: { cpu: '100m', memory: '256Mi' },
    memoryLimit: '2Gi',
  });
}

function memberNames(plane: UnderClusterPlane): string[] {
  return Array.from({ length: plane.etcdReplicas }, (_, index) => `${nameOf(plane, 'etcd')}-${index}`);
}

function hostOf(plane: UnderClusterPlane, member: string): string {
  return `${member}.${nameOf(plane, 'etcd')}.${plane.namespace}.svc`;
}
