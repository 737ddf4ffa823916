import { createHash, type Hash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { RUN_UID_HEADER, RUNTIME_LABEL, RUNTIMED_STATUS_PORT } from '../../api/kruntimes.io/v1alpha1/names.ts';
import type { ArtifactReference, Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { ArtifactService, DownloadRequestSchema, DownloadResponseSchema } from '../../areas/runs/protocol/generated/artifact_pb.js';
import { Pod } from '../../client/kinds.ts';
import { podPortForward } from '../../client/streams/port-forward.ts';
import { isConditionTrue } from '../../kube/conditions.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Cluster } from '../cluster.ts';
import type { ArtifactInfo } from '../runs-api.ts';
import { artifactInfo, artifactNamed } from './artifact-references.ts';
import { serverStream } from './grpc-call.ts';

export interface DownloadOptions {
  signal?: AbortSignal;
  onProgress?: (bytes: number, total: number) => void;
}

/** Writes an artifact of a Run to a file, which appears only when all of it has come and is what the Run left. */
export async function downloadArtifact(
  cluster: Cluster,
  run: Run,
  name: string,
  file: string,
  options: DownloadOptions = {},
): Promise<ArtifactInfo> {
  const reference = artifactNamed(run, name);
  const namespace = run.metadata.namespace!;
  const pod = await servingPod(cluster, run);
  const forward = await podPortForward(cluster.transport, { namespace, name: pod }, { signal: options.signal });
  try {
    const connection = await forward.open(RUNTIMED_STATUS_PORT);
    const request = { namespace, runName: run.metadata.name!, runUid: run.metadata.uid!, artifactName: name };
    await receive(connection, request, reference, file, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new Error(`Cannot download artifact "${name}" of Run "${run.metadata.name}": ${(error as Error).message}`, { cause: error });
  } finally {
    forward.close();
  }
  return artifactInfo(reference);
}

/** The Pod that the Run was on, or another of its Runtime: they share the store. */
async function servingPod({ client }: Cluster, run: Run): Promise<string> {
  const { assignedPod } = run.status ?? {};
  const pods = await client
    .resource(Pod, run.metadata.namespace)
    .list({ labelSelector: { [RUNTIME_LABEL]: run.spec.runtime } })
    .catch((error: unknown) => {
      // Who may not look around may still be allowed to connect.
      if (isStatusError(error, 'Forbidden') && assignedPod !== undefined) return undefined;
      throw error;
    });
  if (pods === undefined) return assignedPod!;
  const ready = pods.items.filter(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && isConditionTrue(status?.conditions, 'Ready'),
  );
  const chosen = ready.find((pod) => pod.metadata.name === assignedPod) ?? ready[0];
  if (chosen !== undefined) return chosen.metadata.name!;
  throw new Error(
    `Cannot download from Runtime "${run.spec.runtime}": none of its Pods is ready; see \`krt runtime get ${run.spec.runtime}\` and try again when one is`,
  );
}

interface ArtifactRequest {
  namespace: string;
  runName: string;
  runUid: string;
  artifactName: string;
}

/** Takes the artifact from a connection to runtimed. */
export async function receive(
  connection: Duplex,
  request: ArtifactRequest,
  expected: Pick<ArtifactReference, 'sizeBytes' | 'digest'>,
  file: string,
  options: DownloadOptions,
): Promise<void> {
  const path = `/${ArtifactService.typeName}/${ArtifactService.method.download.name}`;
  const { runUid, ...asked } = request;
  const message = toBinary(DownloadRequestSchema, create(DownloadRequestSchema, asked));
  const partial = `${file}.partial`;
  const output = await open(partial, 'w');
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const frame of serverStream(connection, path, message, options.signal, { [RUN_UID_HEADER]: runUid })) {
      const { data } = fromBinary(DownloadResponseSchema, frame);
      if (data.length === 0) continue;
      hash.update(data);
      await output.write(data);
      bytes += data.length;
      options.onProgress?.(bytes, expected.sizeBytes);
    }
    check(bytes, hash, expected);
    await output.close();
    await rename(partial, file);
  } catch (error) {
    await output.close().catch(() => {});
    await rm(partial, { force: true }).catch(() => {});
    throw error;
  }
}

function check(bytes: number, hash: Hash, expected: Pick<ArtifactReference, 'sizeBytes' | 'digest'>): void {
  if (bytes !== expected.sizeBytes) throw new Error(`${bytes} bytes came instead of ${expected.sizeBytes}; try again`);
  const digest = `sha256:${hash.digest('hex')}`;
  if (expected.digest?.startsWith('sha256:') && expected.digest !== digest) {
    throw new Error(`what came is ${digest} instead of ${expected.digest}: it was changed on the way or in the store`);
  }
}
