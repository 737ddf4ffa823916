/** The conditions of a PluginInstallation, in the order in which they come true. */
export const InstallationCondition = {
  /** Suspended, nothing of it runs and nobody believes it; before all else, because nothing else may keep that from happening. */
  SuspensionEnforced: 'SuspensionEnforced',
  Accepted: 'Accepted',
  /** No requests go to a version that is not wanted any more, or must not be. */
  TrafficSafe: 'TrafficSafe',
  SignatureVerified: 'SignatureVerified',
  NamespaceReady: 'NamespaceReady',
  /** It is known where it has to run: on the host, or in the cluster that its tenant lives in. */
  PlaceChosen: 'PlaceChosen',
  LimitsSet: 'LimitsSet',
  NetworkIsolated: 'NetworkIsolated',
  IdentityIssued: 'IdentityIssued',
  SecretsResolved: 'SecretsResolved',
  DatabaseReady: 'DatabaseReady',
  EventsReady: 'EventsReady',
  WorkloadDeployed: 'WorkloadDeployed',
  /** Requests go to where it has to run, as soon as it answers there. */
  RequestsPlaced: 'RequestsPlaced',
  ProbesPassed: 'ProbesPassed',
  /** All requests go to the wanted version, and no other is left. */
  TrafficShifted: 'TrafficShifted',
  /** Not a step: False while a rollback is asked for that there is no way for. */
  RollbackAccepted: 'RollbackAccepted',
  /** Not a step: whether a plugin of a tenant that lives in a cluster is there too. */
  Placed: 'Placed',
  /** Not a step: whether models find the tools of the plugin. */
  ToolsRegistered: 'ToolsRegistered',
  /** Not a step: whether events wait for the plugin for too long. True is the bad news. */
  ConsumerLag: 'ConsumerLag',
  /** While it is uninstalled. */
  NamespaceGone: 'NamespaceGone',
  EventsWithdrawn: 'EventsWithdrawn',
  DataSettled: 'DataSettled',
} as const;

export const InstallationReason = {
  NotATenant: 'NotATenant',
  VersionNotFound: 'VersionNotFound',
  VersionNotVerified: 'VersionNotVerified',
  SignatureInvalid: 'SignatureInvalid',
  NoKnownGood: 'NoKnownGood',
  RollbackForbidden: 'RollbackForbidden',
  NameTaken: 'NameTaken',
  NamespaceTerminating: 'NamespaceTerminating',
  NamespaceJoining: 'NamespaceJoining',
  SecretMissing: 'SecretMissing',
  SecretBackendUnavailable: 'SecretBackendUnavailable',
  PullSecretMissing: 'PullSecretMissing',
  NotNeeded: 'NotNeeded',
  DatabaseUnavailable: 'DatabaseUnavailable',
  MigrationRefused: 'MigrationRefused',
  MigrationFailed: 'MigrationFailed',
  EventsUnavailable: 'EventsUnavailable',
  LagHigh: 'LagHigh',
  LagNormal: 'LagNormal',
  NoToolRegistry: 'NoToolRegistry',
  RollingOut: 'RollingOut',
  NotStarting: 'NotStarting',
  AdmissionDenied: 'AdmissionDenied',
  CrashLooping: 'CrashLooping',
  NotReady: 'NotReady',
  ErrorRateExceeded: 'ErrorRateExceeded',
  LatencyExceeded: 'LatencyExceeded',
  ShiftingTraffic: 'ShiftingTraffic',
  Draining: 'Draining',
  TakingBack: 'TakingBack',
  OnHost: 'OnHost',
  InCluster: 'InCluster',
  KeptOnHost: 'KeptOnHost',
  Moving: 'Moving',
  ClusterUnavailable: 'ClusterUnavailable',
  Suspended: 'Suspended',
  Retained: 'Retained',
  Deleting: 'Deleting',
} as const;
