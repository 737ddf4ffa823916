import type { Json } from '../../../src/kube/object.ts';

const PROBE_BY_HTTP = { httpGet: { port: 80 } };

/** Sets every part of a Pod that has defaults inside, and nothing that has one. */
export const FULL_POD_SPEC: Json = {
  containers: [
    {
      name: 'main',
      image: 'registry.example/app:v1',
      ports: [{ containerPort: 80 }],
      env: [
        { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'B', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } },
        { name: 'C', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        { name: 'D', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'E', value: 'v' },
      ],
      envFrom: [{ configMapRef: { name: 'c' } }, { secretRef: { name: 's' } }],
      resources: { limits: { cpu: '1', memory: '1Gi' } },
      livenessProbe: PROBE_BY_HTTP,
      readinessProbe: { tcpSocket: { port: 80 } },
      startupProbe: { grpc: { port: 80 } },
      lifecycle: { postStart: { exec: { command: ['true'] } }, preStop: PROBE_BY_HTTP },
      securityContext: { capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } },
      volumeMounts: [{ name: 'empty', mountPath: '/empty' }],
    },
  ],
  initContainers: [{ name: 'init', image: 'registry.example/init:v1' }],
  volumes: [
    { name: 'empty', emptyDir: {} },
    { name: 'secret', secret: { secretName: 's' } },
    { name: 'config', configMap: { name: 'c' } },
    { name: 'host', hostPath: { path: '/host' } },
    { name: 'downward', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    {
      name: 'projected',
      projected: {
        sources: [
          { serviceAccountToken: { path: 'token' } },
          { configMap: { name: 'c' } },
          { secret: { name: 's' } },
          { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
        ],
      },
    },
    { name: 'claim', persistentVolumeClaim: { claimName: 'p' } },
    {
      name: 'ephemeral',
      ephemeral: {
        volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      },
    },
    { name: 'iscsi', iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:storage', lun: 0 } },
    { name: 'rbd', rbd: { monitors: ['10.0.0.1:6789'], image: 'image' } },
    { name: 'azure', azureDisk: { diskName: 'd', diskURI: 'https://blob.example/d' } },
    { name: 'scaleio', scaleIO: { gateway: 'https://gateway.example', system: 's', volumeName: 'v', secretRef: { name: 's' } } },
    { name: 'nfs', nfs: { server: 'nfs.example', path: '/' } },
    { name: 'csi', csi: { driver: 'csi.example' } },
    { name: 'image', image: { reference: 'registry.example/data:v1' } },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }],
      },
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: { matchLabels: { app: 'a' } } }],
    },
  },
  tolerations: [{ key: 'k', operator: 'Exists' }],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 'a' } } },
  ],
  dnsConfig: { nameservers: ['10.0.0.10'] },
};

export const SMALL_POD_SPEC: Json = { containers: [{ name: 'main', image: 'registry.example/app' }] };

export function podTemplate(spec: Json): Json {
  return { metadata: { labels: { app: 'a' } }, spec };
}
