/** Who can serve a control plane. */
export const CONTROL_PLANE_PROVIDERS = ['embedded', 'kubernetes'] as const;
export type ControlPlaneProvider = (typeof CONTROL_PLANE_PROVIDERS)[number];

/** What stands between a worker's processes and this machine's kernel, the weakest first. */
export const KERNEL_ISOLATIONS = ['Sandbox', 'Kernel'] as const;
export type KernelIsolation = (typeof KERNEL_ISOLATIONS)[number];

/** Who can make workers, the best first: kernels of their own before sandboxes, and of those the lighter before the heavier. */
export const MACHINE_PROVIDERS = ['kvm', 'uml', 'tcg', 'gvisor'] as const;
export type MachineProvider = (typeof MACHINE_PROVIDERS)[number];

/** preview: only for who names it; deprecated: not for new clusters; expired: for nobody. */
export const CLASSIFICATIONS = ['preview', 'supported', 'deprecated', 'expired'] as const;
export type Classification = (typeof CLASSIFICATIONS)[number];

/** `<cluster>-kubeconfig` must fit into a label. */
export const CLUSTER_NAME_MAX = 52;
export const CLUSTER_NAME = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
export const CLUSTER_FINALIZER = 'tenantry.dev/tenant-cluster';
/** On the kubeconfig Secret: which cluster it is for. */
export const CLUSTER_LABEL = 'tenantry.dev/cluster';
/** On what an add-on put into a tenant's cluster: which add-on. */
export const ADD_ON_LABEL = 'tenantry.dev/add-on';
/** Beside it: a hash of what was wanted when it was written. */
export const ADD_ON_HASH = 'tenantry.dev/add-on-hash';
export const KUBECONFIG_KEY = 'kubeconfig';

export function kubeconfigSecretOf(cluster: string): string {
  return `${cluster}-kubeconfig`;
}

/** The conditions of a TenantCluster, in the order in which they come true. */
export const ClusterCondition = {
  Accepted: 'Accepted',
  NetworkReady: 'NetworkReady',
  /** Names and images are there for its workers. */
  PlatformServed: 'PlatformServed',
  Restored: 'Restored',
  ControlPlaneReady: 'ControlPlaneReady',
  AccessGranted: 'AccessGranted',
  /** Services of the type LoadBalancer have their addresses. */
  ServicesPublished: 'ServicesPublished',
  AddOnsInstalled: 'AddOnsInstalled',
  /** The machines of its workers are what its pools ask for; whether they are ready is another question, which comes last. */
  WorkersKept: 'WorkersKept',
  BackedUp: 'BackedUp',
  WorkersReady: 'WorkersReady',
  /** The tenant's Runtimes and Runs that belong into it are in it, and are told of outside. */
  PlacementKept: 'PlacementKept',
  /** Not steps: they tell, and stop nothing. */
  WithinBounds: 'WithinBounds',
  ProcessIsolated: 'ProcessIsolated',
  CertificatesValid: 'CertificatesValid',
  /** It runs the version that it is to run; absent: there was never another. */
  Upgraded: 'Upgraded',
  /** While a cluster is deleted. */
  PlacementReleased: 'PlacementReleased',
  WorkersGone: 'WorkersGone',
  ControlPlaneGone: 'ControlPlaneGone',
  NetworkReleased: 'NetworkReleased',
} as const;

export const ClusterPhase = {
  Pending: 'Pending',
  Creating: 'Creating',
  /** It answers, and its workers come or go. */
  Changing: 'Changing',
  Ready: 'Ready',
  Asleep: 'Asleep',
  Restoring: 'Restoring',
  Failed: 'Failed',
  Deleting: 'Deleting',
} as const;

export const WorkerPhase = {
  /** It has a name and an address, and nothing else yet. */
  Pending: 'Pending',
  /** Its machine runs. */
  Joining: 'Joining',
  Ready: 'Ready',
  /** Its Pods are asked to go elsewhere; then it goes. */
  Leaving: 'Leaving',
  /** Its machine runs, and its node says nothing. */
  Failed: 'Failed',
  Asleep: 'Asleep',
} as const;
export type WorkerPhase = (typeof WorkerPhase)[keyof typeof WorkerPhase];

/** The group of who joins with a token that the platform gave to a worker. */
export const WORKER_TOKEN_GROUP = 'system:bootstrappers:tenantry:worker';

export const ClusterReason = {
  NoTenant: 'NoTenant',
  NoPolicy: 'NoPolicy',
  NoProvider: 'NoProvider',
  NoNetworks: 'NoNetworks',
  NoPlace: 'NoPlace',
  NetworkNotReady: 'NetworkNotReady',
  NetworkLeaving: 'NetworkLeaving',
  Asleep: 'Asleep',
  DiskFull: 'DiskFull',
  StoreFull: 'StoreFull',
  NotAnswering: 'NotAnswering',
  PortTaken: 'PortTaken',
  StartFailed: 'StartFailed',
  Restarting: 'Restarting',
  Upgrading: 'Upgrading',
  UpgradeFailed: 'UpgradeFailed',
  Upgraded: 'Upgraded',
  NoBackup: 'NoBackup',
  BackupTooLarge: 'BackupTooLarge',
  NoMachines: 'NoMachines',
  MachineFailed: 'MachineFailed',
  WorkersJoining: 'WorkersJoining',
  WorkersLeaving: 'WorkersLeaving',
  TooManyObjects: 'TooManyObjects',
  UnknownAddOn: 'UnknownAddOn',
  AddOnRefused: 'AddOnRefused',
  AddOnsInstalling: 'AddOnsInstalling',
  OwnUser: 'OwnUser',
  SharedUser: 'SharedUser',
  Valid: 'Valid',
  Overlapping: 'Overlapping',
  NotYetValid: 'NotYetValid',
  Expired: 'Expired',
  Beyond: 'BeyondBounds',
  Within: 'WithinBounds',
} as const;

/** What became of the placement of a tenant's namespaces in its cluster. */
export const PlacementPhase = {
  /** Runs that began on the host have yet to end there. */
  Placing: 'Placing',
  Placed: 'Placed',
  /** Runs that began in the cluster have yet to end there. */
  Draining: 'Draining',
  /** Nothing of the host is in it any more. */
  Empty: 'Empty',
} as const;
export type PlacementPhase = (typeof PlacementPhase)[keyof typeof PlacementPhase];

/** On what the platform put into a tenant's cluster because it is on the host: whose it is. */
export const PLACED_FROM_LABEL = 'tenantry.dev/placed-from';
/** Beside it: the uid of the original, and a hash of what was copied. */
export const ORIGINAL_UID = 'tenantry.dev/original-uid';
export const ORIGINAL_HASH = 'tenantry.dev/original-hash';
/** On a Run and on its copy: neither goes before the other is told. */
export const PLACEMENT_FINALIZER = 'tenantry.dev/placement';
