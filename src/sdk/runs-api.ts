/*
 * What `import { runs } from "tenantry"` gives. The build ships this file as the package's type declarations, so it imports nothing and
 * holds interfaces only.
 */

/** What to run, and how. */
export interface RunRequest {
  /** The Runtime that takes it: `bash` unless said otherwise. */
  runtime?: string;
  /** The command, or the arguments of the script. */
  args?: string[];
  /** The text of a script. */
  script?: string;
  /** A git repository to run from. */
  repository?: {
    url: string;
    ref?: string;
    /** A Secret with `username` and `password`, or `ssh-privatekey`. */ credentialsSecret?: string;
  };
  /** The file of the repository to run. */
  entrypoint?: string;
  env?: Record<string, string | EnvSource>;
  /** Milliseconds, or a duration such as `90s` or `1m30s`. None: it may take as long as it wants. */
  timeout?: number | string;
  retry?: {
    attempts: number;
    /** Doubled after each failure. */ backoff?: number | string;
    /** Only for these reasons. */ reasons?: string[];
  };
  /** The Run is removed so long after its end. */
  ttlSeconds?: number;
  /** Higher goes first. */
  priority?: number;
  /** What it takes of its Pod, besides one of `runs`. */
  requests?: Record<string, number | string>;
  name?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** A variable whose value is kept elsewhere. */
export type EnvSource =
  | { secret: string; key: string; optional?: boolean }
  | { configMap: string; key: string; optional?: boolean }
  | { field: string };

export interface CallOptions {
  signal?: AbortSignal;
}

export interface RunOptions extends CallOptions {
  /** Called with what it writes, as it writes it. */
  onOutput?: (chunk: OutputChunk) => void;
}

export type RunPhaseName = 'Pending' | 'Scheduled' | 'Running' | 'Ready' | 'Succeeded' | 'Failed' | 'Timeout' | 'Cancelled';

export interface OutputChunk {
  stream: 'stdout' | 'stderr';
  text: string;
}

/** How a Run ended. */
export interface RunResult {
  name: string;
  namespace: string;
  phase: RunPhaseName;
  /** The program's own; 124 after a timeout, 130 after a cancellation, 125 when it could not be run. */
  exitCode: number;
  /** What it wrote to $KRUNTIME_OUTPUTS. */
  outputs: Record<string, string>;
  /** What it wrote, the end of it when it was much. */
  log: string;
  message: string;
  attempts: number;
  artifacts: ArtifactInfo[];
}

export interface ArtifactInfo {
  name: string;
  type: 'file' | 'directory' | 'archive' | 'blob';
  sizeBytes: number;
  contentType?: string;
  digest?: string;
}

/** A Run as the API server has it. */
export interface RunObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name?: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    creationTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec: { runtime: string };
  status?: { phase: RunPhaseName; assignedPod?: string; message?: string; exitCode?: number; outputs?: Record<string, string> };
}

/** A Run that was submitted. */
export interface RunHandle {
  readonly name: string;
  readonly namespace: string;
  /** What it writes, from its first line until it ends. */
  output(options?: CallOptions): AsyncIterable<OutputChunk>;
  /** Resolves when it has ended, however it ended. */
  result(options?: CallOptions): Promise<RunResult>;
  get(options?: CallOptions): Promise<RunObject>;
  /** Asks for its end; `result` tells when it has come. */
  cancel(options?: CallOptions): Promise<void>;
  /** Removes it, and ends it if it has not. */
  delete(options?: CallOptions): Promise<void>;
  /** Writes one of its artifacts to a file; a directory comes as a .tar.gz. */
  download(
    artifact: string,
    file: string,
    options?: CallOptions & { onProgress?: (bytes: number, total: number) => void },
  ): Promise<ArtifactInfo>;
}

export interface Runs {
  submit(request: RunRequest, options?: CallOptions): Promise<RunHandle>;
  /** Submits and waits. When the signal fires the Run is cancelled and the promise rejects with the signal's reason. */
  run(request: RunRequest, options?: RunOptions): Promise<RunResult>;
  /** One that was submitted before, here or elsewhere. */
  get(name: string, options?: CallOptions): Promise<RunHandle>;
  list(options?: CallOptions & { runtime?: string; phase?: RunPhaseName; labels?: Record<string, string> }): Promise<RunObject[]>;
  /** The same in another namespace, on the same connection. */
  in(namespace: string): Runs;
  close(): Promise<void>;
}

/** Which cluster, and who to be there. All of it may be left out: see `connect`. */
export interface ClusterOptions {
  kubeconfig?: string;
  context?: string;
  cluster?: string;
  user?: string;
  namespace?: string;
  /** The data directory of an instance of this machine. */
  data?: string;
  server?: string;
  token?: string;
  certificateAuthority?: string;
  clientCertificate?: string;
  clientKey?: string;
  tlsServerName?: string;
  insecureSkipTlsVerify?: boolean;
  as?: string;
  asUid?: string;
  asGroups?: string[];
}
