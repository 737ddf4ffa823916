import type { Json } from '../../../src/kube/object.ts';
import type { Base, Change } from '../case.ts';
import { caseSet, clusterScoped, namespaced, STATUS, UPDATE, type Row } from './build.ts';

const volume = (name: string, spec: Json): Base =>
  clusterScoped('', 'v1', 'persistentvolumes', 'PersistentVolume', name, {
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...spec },
  });
const claim = (name: string, spec: Json): Base =>
  namespaced('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', name, {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
const storage = (resource: string, kind: string, name: string, body: Json): Base =>
  clusterScoped('storage.k8s.io', 'v1', resource, kind, name, body);

const bases: Record<string, Base> = {
  volume: volume('pv', { hostPath: { path: '/a' } }),
  csiVolume: volume('csi', {
    csi: { driver: 'a.b', volumeHandle: 'h' },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'failure-domain.beta.kubernetes.io/zone', operator: 'In', values: ['a'] }] }],
      },
    },
  }),
  claim: claim('pvc', {}),
  bound: { ...claim('bound', { storageClassName: 'x' }), status: { phase: 'Bound', capacity: { storage: '1Gi' } } },
  class: storage('storageclasses', 'StorageClass', 'sc', { provisioner: 'example.com/p', parameters: { a: 'b' } }),
  driver: storage('csidrivers', 'CSIDriver', 'drv', { spec: {} }),
  csiNode: storage('csinodes', 'CSINode', 'cn', { spec: { drivers: [{ name: 'a.b', nodeID: 'n' }] } }),
  attachment: storage('volumeattachments', 'VolumeAttachment', 'va', {
    spec: { attacher: 'a.b', nodeName: 'n', source: { persistentVolumeName: 'pv' } },
  }),
  attributes: storage('volumeattributesclasses', 'VolumeAttributesClass', 'vac', { driverName: 'a.b', parameters: { a: 'b' } }),
  capacity: namespaced('storage.k8s.io', 'v1', 'csistoragecapacities', 'CSIStorageCapacity', 'cap', {
    storageClassName: 'sc',
    capacity: '1Gi',
  }),
};

const source = (value: Json): Change => ({
  '/spec/hostPath': null,
  ...Object.fromEntries(Object.entries(value).map(([k, v]) => [`/spec/${k}`, v])),
});
const affinity = (value: Json): Change => ({ '/spec/nodeAffinity': value });

const rows: Row[] = [
  ['valid', 'volume', {}],
  ['no access modes', 'volume', { '/spec/accessModes': [] }],
  ['bad access modes', 'volume', { '/spec/accessModes': ['ReadWriteOncePod', 'ReadOnlyMany', 'Foo'] }],
  ['no capacity', 'volume', { '/spec/capacity': null }],
  ['bad capacity', 'volume', { '/spec/capacity': { cpu: '1' } }],
  ['zero capacity', 'volume', { '/spec/capacity': { storage: '0' } }],
  ['negative capacity', 'volume', { '/spec/capacity': { storage: '-1Gi' } }],
  ['no source', 'volume', source({})],
  ['two sources', 'volume', { '/spec/nfs': { server: 'a', path: '/b' } }],
  ['unknown reclaim policy', 'volume', { '/spec/persistentVolumeReclaimPolicy': 'Foo' }],
  ['recycle the root', 'volume', { '/spec/persistentVolumeReclaimPolicy': 'Recycle', '/spec/hostPath/path': '/' }],
  ['local without affinity', 'volume', source({ local: { path: 'a/../b' } })],
  ['affinity without terms', 'volume', affinity({ required: { nodeSelectorTerms: [] } })],
  ['affinity empty', 'volume', affinity({})],
  [
    'csi wrong',
    'volume',
    source({
      csi: { driver: '', volumeHandle: '', nodePublishSecretRef: { name: 'A' }, controllerExpandSecretRef: { name: 'a', namespace: 'B' } },
    }),
  ],
  [
    'iscsi wrong',
    'volume',
    source({
      iscsi: { targetPortal: 'x'.repeat(70), iqn: 'foo', lun: 0, initiatorName: 'eui.x', secretRef: {}, iscsiInterface: 'default' },
    }),
  ],
  ['nfs wrong', 'volume', source({ nfs: { server: '', path: '' } })],
  ['azure file wrong', 'volume', source({ azureFile: { secretName: '', shareName: '', secretNamespace: '' } })],
  ['glusterfs wrong', 'volume', source({ glusterfs: { endpoints: '', path: '', endpointsNamespace: 'A' } })],
  ['bad names and mode', 'volume', { '/spec/storageClassName': 'A', '/spec/volumeMode': 'Foo', '/spec/volumeAttributesClassName': 'B' }],
  ['mount options', 'volume', { '/metadata/annotations': { 'volume.beta.kubernetes.io/mount-options': 'ro' } }],
  ['update nothing', 'volume', {}, UPDATE],
  ['update the source', 'volume', { '/spec/hostPath/path': '/b' }, UPDATE],
  ['update the mode', 'volume', { '/spec/volumeMode': 'Block' }, UPDATE],
  [
    'update the affinity to the stable label',
    'csiVolume',
    { '/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/key': 'topology.kubernetes.io/zone' },
    UPDATE,
  ],
  ['update the affinity', 'csiVolume', { '/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values': ['b'] }, UPDATE],
  ['remove the affinity', 'csiVolume', { '/spec/nodeAffinity': null }, UPDATE],
  ['add an expansion secret', 'csiVolume', { '/spec/csi/controllerExpandSecretRef': { name: 'a', namespace: 'b' } }, UPDATE],
  ['valid', 'claim', {}],
  ['no access modes', 'claim', { '/spec/accessModes': [] }],
  ['bad access modes', 'claim', { '/spec/accessModes': ['ReadWriteOncePod', 'ReadOnlyMany', 'Foo'] }],
  ['no storage', 'claim', { '/spec/resources': {} }],
  ['negative storage', 'claim', { '/spec/resources/requests/storage': '-1' }],
  ['bad selector', 'claim', { '/spec/selector': { matchLabels: { a: '-' } } }],
  ['bad names and mode', 'claim', { '/spec/storageClassName': 'A', '/spec/volumeMode': 'Foo', '/spec/volumeAttributesClassName': 'B' }],
  ['bad data source', 'claim', { '/spec/dataSource': { kind: 'Foo', name: '' }, '/spec/dataSourceRef': { kind: 'Foo', name: '' } }],
  [
    'data sources differ',
    'claim',
    {
      '/spec/dataSource': { kind: 'PersistentVolumeClaim', name: 'a' },
      '/spec/dataSourceRef': { kind: 'PersistentVolumeClaim', name: 'b' },
    },
  ],
  [
    'bad data source group',
    'claim',
    { '/spec/dataSource': { apiGroup: 'A', kind: 'X', name: 'a' }, '/spec/dataSourceRef': { apiGroup: 'A', kind: 'X', name: 'a' } },
  ],
  ['update the class', 'claim', { '/spec/storageClassName': 'x' }, UPDATE],
  ['update the size unbound', 'claim', { '/spec/resources/requests/storage': '2Gi' }, UPDATE],
  ['update the modes', 'claim', { '/spec/accessModes': ['ReadWriteMany'] }, UPDATE],
  ['update the volume name', 'claim', { '/spec/volumeName': 'pv' }, UPDATE],
  ['grow bound', 'bound', { '/spec/resources/requests/storage': '2Gi' }, UPDATE],
  ['shrink bound', 'bound', { '/spec/resources/requests/storage': '500Mi' }, UPDATE],
  ['update the class of bound', 'bound', { '/spec/storageClassName': 'y' }, UPDATE],
  ['update the mode of bound', 'bound', { '/spec/volumeMode': 'Block' }, UPDATE],
  [
    'status',
    'bound',
    {
      '/status/capacity': { storage: '-1' },
      '/status/allocatedResources': { cpu: '1' },
      '/status/allocatedResourceStatuses': { storage: 'Foo' },
    },
    STATUS,
  ],
  ['valid', 'class', {}],
  ['no provisioner', 'class', { '/provisioner': '' }],
  ['bad provisioner', 'class', { '/provisioner': 'a b' }],
  ['bad parameters', 'class', { '/parameters': { '': 'x' } }],
  ['bad policies', 'class', { '/reclaimPolicy': 'Recycle', '/volumeBindingMode': 'Foo' }],
  [
    'bad topologies',
    'class',
    {
      '/allowedTopologies': [
        {
          matchLabelExpressions: [
            { key: 'a b', values: [] },
            { key: 'c', values: ['x', 'x'] },
            { key: 'c', values: ['y'] },
          ],
        },
      ],
    },
  ],
  [
    'same topologies',
    'class',
    {
      '/allowedTopologies': [
        { matchLabelExpressions: [{ key: 'c', values: ['x'] }] },
        { matchLabelExpressions: [{ key: 'c', values: ['x'] }] },
      ],
    },
  ],
  [
    'update everything',
    'class',
    { '/provisioner': 'x', '/parameters': {}, '/reclaimPolicy': 'Retain', '/volumeBindingMode': 'WaitForFirstConsumer' },
    UPDATE,
  ],
  ['valid', 'driver', {}],
  [
    'bad values',
    'driver',
    {
      '/spec/fsGroupPolicy': 'Foo',
      '/spec/volumeLifecycleModes': ['Foo'],
      '/spec/tokenRequests': [{ audience: 'a', expirationSeconds: 5 }, { audience: 'a' }],
      '/spec/nodeAllocatableUpdatePeriodSeconds': 5,
    },
  ],
  ['update fixed fields', 'driver', { '/spec/attachRequired': false, '/spec/volumeLifecycleModes': ['Ephemeral'] }, UPDATE],
  ['valid', 'csiNode', {}],
  [
    'bad drivers',
    'csiNode',
    {
      '/spec/drivers': [
        { name: '', nodeID: '' },
        { name: 'a', nodeID: 'x'.repeat(257), allocatable: { count: -1 }, topologyKeys: ['', 'b', 'b'] },
        { name: 'a', nodeID: 'y' },
      ],
    },
  ],
  ['update the node id', 'csiNode', { '/spec/drivers/0/nodeID': 'm' }, UPDATE],
  ['update the count', 'csiNode', { '/spec/drivers/0/allocatable': { count: 5 } }, UPDATE],
  ['valid', 'attachment', {}],
  ['no attacher', 'attachment', { '/spec/attacher': '', '/spec/nodeName': 'A' }],
  ['no source', 'attachment', { '/spec/source': {} }],
  ['bad volume name', 'attachment', { '/spec/source': { persistentVolumeName: 'A' } }],
  [
    'inline without csi',
    'attachment',
    {
      '/spec/source': {
        inlineVolumeSpec: {
          accessModes: ['ReadWriteOnce'],
          capacity: { storage: '1' },
          hostPath: { path: '/a', type: '' },
          storageClassName: 'a',
        },
      },
    },
  ],
  ['update the spec', 'attachment', { '/spec/nodeName': 'm' }, UPDATE],
  ['valid', 'attributes', {}],
  ['no parameters', 'attributes', { '/parameters': null, '/driverName': '' }],
  ['update', 'attributes', { '/parameters/a': 'c', '/driverName': 'x' }, UPDATE],
  ['bad values', 'capacity', { '/storageClassName': 'A', '/capacity': '-1', '/nodeTopology': { matchLabels: { a: '-' } } }],
  ['update', 'capacity', { '/storageClassName': 'b', '/nodeTopology': { matchLabels: { a: 'b' } } }, UPDATE],
];

export const storageCases = caseSet(bases, rows);
