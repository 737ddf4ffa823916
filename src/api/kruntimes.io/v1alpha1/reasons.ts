/** Condition types, reasons and fixed texts of Runs: what programs and people compare with, so they are part of the API. */
export const RunCondition = { Scheduled: 'Scheduled', Running: 'Running', Completed: 'Completed', Ready: 'Ready' } as const;

export const RunReason = {
  Assigned: 'Assigned',
  Claimed: 'Claimed',
  Retrying: 'Retrying',
  Completed: 'Completed',
  RunCompleted: 'RunCompleted',
} as const;

/** Why an attempt, or the Run, did not succeed. */
export const FAILURE_REASONS = [
  'Timeout',
  'PrepareSource',
  'RuntimeExecute',
  'RuntimeError',
  'ExecutionLost',
  'Cancelled',
  'PodGone',
  'PodTerminating',
  'PodUnhealthy',
  'OutputsInvalid',
  'OutputsTooLarge',
  'ArtifactInvalid',
  'InvalidResources',
  // Additive: the environment names a Secret or ConfigMap that is not there; the interpreter, the isolation or the limits asked for are
  // missing; who created the Run was never asked whether he may use the Runtime; the artifact store said no; the Run took too much memory.
  'InvalidEnvironment',
  'InterpreterMissing',
  'IsolationUnavailable',
  'AccessDenied',
  'ArtifactStoreRefused',
  'LimitsUnavailable',
  'OOMKilled',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Trying again cannot help with these. */
export const NEVER_RETRIED: ReadonlySet<FailureReason> = new Set([
  'Cancelled',
  'OutputsInvalid',
  'OutputsTooLarge',
  'ArtifactInvalid',
  'InvalidResources',
  'InvalidEnvironment',
  'InterpreterMissing',
  'IsolationUnavailable',
  'AccessDenied',
  'ArtifactStoreRefused',
  'LimitsUnavailable',
]);

export const RunMessage = {
  succeeded: 'execution completed',
  completed: 'Completed successfully',
  cancelled: 'cancelled by user',
  claimed: 'claimed by runtimed',
  retrying: 'Retry after failure',
  assigned: (pod: string) => `assigned to runtime pod ${pod}`,
  timeout: (duration: string) => `timeout after ${duration}`,
  waiting: (runtime: string) => `waiting for available runtime pods for runtime "${runtime}"`,
  waitingForAffinity: (runtime: string) => `waiting for available runtime pods satisfying required Run affinity for runtime "${runtime}"`,
  waitingForAntiAffinity: (runtime: string) =>
    `waiting for available runtime pods satisfying required Run anti-affinity for runtime "${runtime}"`,
  executionLost: 'runtime execution not found',
  executionLostAfterRestart: 'runtime execution not found after runtimed restart',
  podGone: 'assigned pod was deleted',
  podReplaced: 'assigned pod was replaced',
  podTerminating: 'assigned pod is terminating',
  podNotReady: 'assigned pod is not ready',
  heartbeatStale: 'runtimed heartbeat is stale',
} as const;

export const RuntimeCondition = {
  Ready: 'Ready',
  /** False when the interpreter of a Runtime is not on the machine. */
  InterpreterAvailable: 'InterpreterAvailable',
  IsolationAvailable: 'IsolationAvailable',
  /** Of Runtimes with limits for each Run. */
  LimitsAvailable: 'LimitsAvailable',
  NetworkPolicyEnforced: 'NetworkPolicyEnforced',
} as const;

/** The condition on a Runtime Pod; its freshness is judged by lastProbeTime. */
export const RUNTIMED_READY = 'kruntimes.io/RuntimedReady';
