/** The conditions of a PluginInstallation, in the order in which they come true. */
export const InstallationCondition = {
  /** Suspended, nothing of it runs and nobody believes it; before all else, because nothing else may keep that from happening. */
  SuspensionEnforced: 'SuspensionEnforced',
  Accepted: 'Accepted',
  /** No requests go to a version that is not wanted any more, or must not be. */
  TrafficSafe: 'TrafficSafe',
  SignatureVerified: 'SignatureVerified',
  NamespaceReady: 'NamespaceReady',
  LimitsSet: 'LimitsSet',
  NetworkIsolated: 'NetworkIsolated',
  IdentityIssued: 'IdentityIssued',
  SecretsResolved: 'SecretsResolved',
  DatabaseReady: 'DatabaseReady',
  EventsReady: 'EventsReady',
  WorkloadDeployed: 'WorkloadDeployed',
  ProbesPassed: 'ProbesPassed',
  /** All requests go to the wanted version, and no other is left. */
  TrafficShifted: 'TrafficShifted',
  /** Not a step: False while a rollback is asked for that there is no way for. */
  RollbackAccepted: 'RollbackAccepted',
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
  Suspended: 'Suspended',
  Retained: 'Retained',
  Deleting: 'Deleting',
} as const;
