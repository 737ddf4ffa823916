/** The conditions of a Tenant, in the order in which they come true. */
export const TenantCondition = {
  Accepted: 'Accepted',
  NamespacesReady: 'NamespacesReady',
  OwnersBound: 'OwnersBound',
  QuotaSet: 'QuotaSet',
  /** What every namespace of the tenant gets is copied down the tree. */
  PropagationOn: 'PropagationOn',
  LimitsSet: 'LimitsSet',
  NetworkIsolated: 'NetworkIsolated',
  /** The workloads run, or are scaled to zero, as the Tenant says. */
  WorkloadsSettled: 'WorkloadsSettled',
  /** The wanted isolation is in force. */
  Isolated: 'Isolated',
  /** Not a step: True while Pods and Runs are moved from one isolation to another. */
  Moving: 'Moving',
  /** While a Tenant is deleted. */
  GracePeriodOver: 'GracePeriodOver',
  OwnersReleased: 'OwnersReleased',
  HooksRun: 'HooksRun',
  NamespacesGone: 'NamespacesGone',
  ClusterObjectsGone: 'ClusterObjectsGone',
} as const;

export const TenantPhase = {
  Pending: 'Pending',
  Active: 'Active',
  Moving: 'Moving',
  Suspended: 'Suspended',
  Deleting: 'Deleting',
} as const;

export const TenantReason = {
  InvalidSpec: 'InvalidSpec',
  NamespaceTaken: 'NamespaceTaken',
  NamespaceTerminating: 'NamespaceTerminating',
  IsolationUnavailable: 'IsolationUnavailable',
  PropagationOff: 'PropagationOff',
  Suspended: 'Suspended',
  Suspending: 'Suspending',
  Running: 'Running',
  Obstructed: 'Obstructed',
  Moving: 'Moving',
  InPlace: 'InPlace',
  /** Between the host and a cluster of its own. */
  Placing: 'Placing',
  SharedNodes: 'SharedNodes',
  DedicatedNodes: 'DedicatedNodes',
  OwnCluster: 'OwnCluster',
  GracePeriod: 'GracePeriod',
  Deleting: 'Deleting',
} as const;
