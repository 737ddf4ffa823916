import { CLUSTER_LABEL } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { SETTINGS } from '../image/guest-scripts.ts';
import type { WantedMachine } from '../machines.ts';

export interface KubeVirtOptions {
  /** Of the tenant's workers in the under-cluster. */
  namespace: string;
  /** The image with the worker's disk: a kernel, Node, this product and cloud-init. Shared by all workers, and read-only. */
  image: string;
  /** The NetworkAttachmentDefinition of its subnet, in the same namespace. */
  attachment: string;
  /** What makes Kube-OVN give it the address and card that it was allocated. */
  annotations: Readonly<Record<string, string>>;
  /** For its own disk; absent: the under-cluster's default. */
  storageClass?: string;
}

const NETWORK = 'vpc';
const DISKS = { image: 'image', own: 'own', settings: 'settings' } as const;
const JOIN_FILE = `/etc/tenantry/${SETTINGS.join}`;
const DATA = '/var/lib/tenantry';

/**
 * A worker as objects of KubeVirt: a Secret with its settings, which goes to the guest as a disk, and the VirtualMachine. The tenant's segment is
 * its only network, so that it has no way into that of the under-cluster's Pods. Its own disk is made for it, and deleted with it.
 */
export function kubeVirtObjects(wanted: WantedMachine, options: KubeVirtOptions): [secret: KubeObject, machine: KubeObject] {
  const labels = { 'app.kubernetes.io/managed-by': 'tenantry', [CLUSTER_LABEL]: wanted.cluster };
  const metadata = (name: string) => ({ name, namespace: options.namespace, labels });
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadata(settingsName(wanted)),
      type: 'Opaque',
      stringData: { userdata: userData(wanted), networkdata: `${JSON.stringify(networkData(wanted))}\n` },
    },
    {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: metadata(wanted.id),
      spec: {
        runStrategy: 'Always',
        dataVolumeTemplates: [ownDisk(wanted, options)],
        template: {
          metadata: { labels: { ...labels, 'tenantry.dev/worker': wanted.id }, annotations: { ...options.annotations } },
          spec: guest(wanted, options),
        },
      },
    },
  ];
}

function guest(wanted: WantedMachine, { image, attachment }: KubeVirtOptions): Json {
  const bus = { bus: 'virtio' };
  return {
    hostname: wanted.name,
    // The under-cluster's node is emptied by who knows how to drain a worker.
    evictionStrategy: 'External',
    terminationGracePeriodSeconds: 30,
    domain: {
      cpu: { cores: wanted.cpus },
      memory: { guest: `${Math.floor(wanted.memoryBytes / 1024 ** 2)}Mi` },
      devices: {
        autoattachGraphicsDevice: false,
        rng: {},
        disks: Object.values(DISKS).map((name) => ({ name, disk: bus })),
        interfaces: [{ name: NETWORK, bridge: {}, macAddress: wanted.network.mac }],
      },
    },
    networks: [{ name: NETWORK, multus: { networkName: attachment } }],
    volumes: [
      { name: DISKS.image, containerDisk: { image } },
      { name: DISKS.own, dataVolume: { name: diskName(wanted) } },
      {
        name: DISKS.settings,
        cloudInitNoCloud: { secretRef: { name: settingsName(wanted) }, networkDataSecretRef: { name: settingsName(wanted) } },
      },
    ],
  };
}

function ownDisk(wanted: WantedMachine, { storageClass }: KubeVirtOptions): Json {
  return {
    metadata: { name: diskName(wanted) },
    spec: {
      source: { blank: {} },
      storage: {
        resources: { requests: { storage: String(wanted.diskBytes) } },
        ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
      },
    },
  };
}

/** What cloud-init does at the first start: its disk, its settings, its agent. JSON is YAML too. */
function userData({ name, join, network, settings }: WantedMachine): string {
  const disk = '/dev/vdb';
  const file = { ...join, name, address: network.address.split('/')[0], settings };
  const config = {
    hostname: name,
    fs_setup: [{ device: disk, filesystem: 'ext4', overwrite: false }],
    mounts: [[disk, DATA, 'ext4', 'noatime']],
    write_files: [{ path: JOIN_FILE, permissions: '0600', content: JSON.stringify(file) }],
    runcmd: [['tenantry', 'join', '--join', JOIN_FILE, '--data', DATA]],
  };
  return `#cloud-config\n${JSON.stringify(config)}\n`;
}

function networkData({ network: { mac, address, gateway, dns } }: WantedMachine): Json {
  const routes = [{ to: '0.0.0.0/0', via: gateway }];
  const link = { match: { macaddress: mac }, addresses: [address], routes, nameservers: { addresses: [...dns] } };
  return { version: 2, ethernets: { [NETWORK]: link } };
}

function settingsName({ id }: WantedMachine): string {
  return `${id}-settings`;
}

function diskName({ id }: WantedMachine): string {
  return `${id}-disk`;
}
