/** Labels, annotations, finalizers, ports and paths that the parts of the runs area, and those of the original, agree on. */
export const RUNTIME_LABEL = 'runtime';
export const appLabelValue = (runtime: string) => `kruntimes-${runtime}`;
export const CAPACITY_ANNOTATION_PREFIX = 'kruntimes.io/capacity.';
export const ARTIFACT_FINALIZER = 'kruntimes.io/artifact-cleanup';
export const ARTIFACT_STORE_HASH_LABEL = 'kruntimes.io/artifact-store-hash';
/** On a Runtime Pod that is going: takes no new Runs. */
export const DRAINING_ANNOTATION = 'kruntimes.io/draining';

export const RUNTIME_CONTAINER = 'runtime';
export const RUNTIMED_CONTAINER = 'runtimed';
export const WORKSPACE_VOLUME = 'workspace';
export const ARTIFACT_VOLUME = 'artifact-store';
export const WORKSPACE_PATH = '/workspace';
export const ARTIFACT_PATH = '/var/lib/kruntimes/artifacts';

export const RUNTIME_PORT = 9091;
export const RUNTIMED_METRICS_PORT = 9090;
export const RUNTIMED_STATUS_PORT = 9093;
/** Says to the status port which Run is meant. Who may read Runs knows it; a Run knows its own and cannot guess another's. */
export const RUN_UID_HEADER = 'x-run-uid';
export const RUNTIMED_HEALTH_PORT = 9094;

/** The resource that counts Runs themselves; every Run asks for at least one. */
export const RUNS_RESOURCE = 'runs';
export const DEFAULT_RUNS_CAPACITY = 2;

export const OUTPUTS_VARIABLE = 'KRUNTIME_OUTPUTS';
export const ARTIFACTS_VARIABLE = 'KRUNTIME_ARTIFACTS_DIR';
/** On a Run: the trace that it is a part of, by whoever created it; and in the environment of its program. */
export const TRACEPARENT_ANNOTATION = 'traceparent';
export const TRACEPARENT_VARIABLE = 'TRACEPARENT';
