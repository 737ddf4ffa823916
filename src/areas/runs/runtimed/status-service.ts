import { once } from 'node:events';
import { Server, type status, type sendUnaryData, type ServerUnaryCall, type ServerWritableStream } from '@grpc/grpc-js';
import type { ArtifactStore } from '../../../api/kruntimes.io/v1alpha1/artifact-store.ts';
import { RUN_UID_HEADER } from '../../../api/kruntimes.io/v1alpha1/names.ts';
import type { ArtifactReference, Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { ArtifactStoreDriver } from '../artifacts/artifact-store.ts';
import { storeHash } from '../artifacts/model/store-hash.ts';
import { ArtifactService, type DownloadRequest, type DownloadResponse } from '../protocol/generated/artifact_pb.js';
import { Runtime, type StatusRequest, type StatusResponse } from '../protocol/generated/executor_pb.js';
import { grpcService } from '../protocol/grpc-service.ts';
import { grpcError } from '../protocol/status-codes.ts';
import type { RuntimeClient } from './runtime-client.ts';

export interface StatusServiceOptions {
  namespace: string;
  runtimeName: string;
  runtime: RuntimeClient;
  artifacts?: { store: ArtifactStoreDriver; description: ArtifactStore };
  /** Runs that are kept apart can reach this service: callers have to know the uid of the Run whose artifacts they want. */
  isReachedByRuns: boolean;
  readRun(name: string): Promise<Run | undefined>;
}

const LARGEST_FRAME = 64 << 10;

/** What may be asked of runtimed from outside: how an execution is, and the artifacts of Runs of its Runtime. All else is Unimplemented. */
export function statusService(options: StatusServiceOptions): Server {
  const server = new Server({ 'grpc.max_send_message_length': -1 });
  server.addService(grpcService(Runtime), {
    status(call: ServerUnaryCall<StatusRequest, StatusResponse>, answer: sendUnaryData<StatusResponse>) {
      options.runtime.status(call.request.id).then(
        (status) => answer(null, status),
        (error: { code?: status; details?: string }) =>
          answer(error.code === undefined ? failureOf(error) : { code: error.code, details: error.details ?? '' }),
      );
    },
  });
  server.addService(grpcService(ArtifactService), {
    download(call: ServerWritableStream<DownloadRequest, object>) {
      download(call, options).then(
        () => call.end(),
        (error: unknown) => call.emit('error', error instanceof Refusal ? error.status : failureOf(error)),
      );
    },
  });
  return server;
}

class Refusal extends Error {
  readonly status: ReturnType<typeof grpcError>;

  constructor(code: Parameters<typeof grpcError>[0], message: string) {
    super(message);
    this.status = grpcError(code, message);
  }
}

function failureOf(error: unknown): ReturnType<typeof grpcError> {
  return grpcError('INTERNAL', error instanceof Error ? error.message : String(error));
}

async function download(call: ServerWritableStream<DownloadRequest, object>, options: StatusServiceOptions): Promise<void> {
  const { run, reference, store } = await asked(call.request, String(call.metadata.get(RUN_UID_HEADER)[0] ?? ''), options);
  const stop = new AbortController();
  call.on('cancelled', () => stop.abort());
  const identity = { namespace: run.metadata.namespace!, uid: run.metadata.uid! };
  const content = await store.open(identity, reference.name, stop.signal);
  if (content === undefined)
    throw new Refusal('NOT_FOUND', `artifact "${reference.name}" of Run "${run.metadata.name}" is not in its store`);
  try {
    await write(call, { metadata: metadataOf(reference) }, stop.signal);
    for await (const chunk of content) {
      const bytes = chunk as Buffer;
      for (let at = 0; at < bytes.length; at += LARGEST_FRAME) {
        await write(call, { data: bytes.subarray(at, at + LARGEST_FRAME) }, stop.signal);
      }
    }
  } finally {
    content.destroy();
  }
}

/** Waits for a reader that is slower than the store. */
async function write(
  call: ServerWritableStream<DownloadRequest, object>,
  frame: Partial<DownloadResponse>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  if (!call.write(frame)) await once(call, 'drain', { signal });
}

function metadataOf({ name, type, contentType = '', sizeBytes, digest = '' }: ArtifactReference): DownloadResponse['metadata'] {
  return { $typeName: 'artifact.v1.ArtifactMetadata', name, type, contentType, sizeBytes: BigInt(sizeBytes), digest };
}

/** The artifact that is asked for, if it may be given. */
async function asked({ namespace, runName, artifactName }: DownloadRequest, uid: string, options: StatusServiceOptions) {
  if (namespace === '' || runName === '' || artifactName === '') {
    throw new Refusal('INVALID_ARGUMENT', 'namespace, run_name and artifact_name are required');
  }
  const { artifacts } = options;
  if (artifacts === undefined) throw new Refusal('FAILED_PRECONDITION', `Runtime "${options.runtimeName}" has no artifact store`);
  if (namespace !== options.namespace) throw new Refusal('PERMISSION_DENIED', `namespace "${namespace}" is not served here`);
  const run = await options.readRun(runName);
  // The same for a Run that there is not: whoever asks learns nothing.
  if (options.isReachedByRuns && run?.metadata.uid !== uid) {
    throw new Refusal(
      'PERMISSION_DENIED',
      `the header ${RUN_UID_HEADER} is not the uid of Run "${runName}"; send the uid that the Run has`,
    );
  }
  if (run === undefined) throw new Refusal('NOT_FOUND', `Run "${runName}" not found`);
  if (run.spec.runtime !== options.runtimeName) throw new Refusal('PERMISSION_DENIED', `Run "${runName}" belongs to another Runtime`);
  const reference = run.status?.artifactRefs?.find(({ name }) => name === artifactName);
  if (reference === undefined) throw new Refusal('NOT_FOUND', `Run "${runName}" has no artifact "${artifactName}"`);
  const kept = run.status?.artifactStore;
  if (kept !== undefined && storeHash(kept) !== storeHash(artifacts.description)) {
    throw new Refusal(
      'FAILED_PRECONDITION',
      `the artifacts of Run "${runName}" are in the store that Runtime "${options.runtimeName}" had before`,
    );
  }
  return { run, reference, store: artifacts.store };
}
