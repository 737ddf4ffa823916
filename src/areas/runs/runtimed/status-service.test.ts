import { Readable } from 'node:stream';
import { credentials, makeClientConstructor, Metadata, status, type Client, type ClientReadableStream, type Server } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { API_VERSION } from '../../../api/kruntimes.io/v1alpha1/group.ts';
import { RUN_UID_HEADER } from '../../../api/kruntimes.io/v1alpha1/names.ts';
import type { ArtifactReference, Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { ArtifactStoreDriver } from '../artifacts/artifact-store.ts';
import { ArtifactService, type DownloadResponse } from '../protocol/generated/artifact_pb.js';
import { grpcService } from '../protocol/grpc-service.ts';
import { listen } from '../protocol/listen.ts';
import type { RuntimeClient } from './runtime-client.ts';
import { statusService } from './status-service.ts';

const reference: ArtifactReference = {
  name: 'report',
  driver: 'filesystem',
  type: 'file',
  location: { filesystem: { path: 'p', volumeClaimName: 'c' } },
  sizeBytes: 2,
  createdAt: '2026-01-01T00:00:00Z',
};
const aRun = (name: string): Run => ({
  apiVersion: API_VERSION,
  kind: 'Run',
  metadata: { name, namespace: 'ns', uid: `uid-of-${name}` },
  spec: { runtime: 'bash', mode: { task: {} } },
  status: { phase: 'Succeeded', artifactRefs: [reference] },
});

describe('artifacts, asked of runtimed', () => {
  let server: Server;
  afterEach(() => server.forceShutdown());

  async function download(isReachedByRuns: boolean, runName: string, uid: string | undefined): Promise<string> {
    server = statusService({
      namespace: 'ns',
      runtimeName: 'bash',
      runtime: {} as RuntimeClient,
      artifacts: {
        store: { open: async () => Readable.from([Buffer.from('hi')]) } as unknown as ArtifactStoreDriver,
        description: { driver: 'filesystem', filesystem: { volumeClaimName: 'c' } },
      },
      isReachedByRuns,
      readRun: async (name) => (name === 'nosuch' ? undefined : aRun(name)),
    });
    const port = await listen(server, '127.0.0.1:0');
    const Stub = makeClientConstructor(grpcService(ArtifactService), 'S');
    const client = new Stub(`127.0.0.1:${port}`, credentials.createInsecure()) as Client & Record<string, CallableFunction>;
    const metadata = new Metadata();
    if (uid !== undefined) metadata.set(RUN_UID_HEADER, uid);
    const request = { namespace: 'ns', runName, artifactName: 'report' };
    let bytes = '';
    try {
      for await (const { data } of client['download'](
        request,
        metadata,
      ) as ClientReadableStream<DownloadResponse> as AsyncIterable<DownloadResponse>)
        bytes += Buffer.from(data).toString();
      return bytes;
    } catch (error) {
      return status[(error as { code: number }).code];
    } finally {
      client.close();
    }
  }

  it.each<[string, boolean, string, string | undefined, string]>([
    ['by anybody where no Run that is kept apart gets here, as the original', false, 'mine', undefined, 'hi'],
    ['of a Run that there is not', false, 'nosuch', undefined, 'NOT_FOUND'],
    ['by who knows the Run', true, 'mine', 'uid-of-mine', 'hi'],
    ['by a Run that knows only itself', true, 'other', 'uid-of-mine', 'PERMISSION_DENIED'],
    ['by a Run that says nothing', true, 'other', undefined, 'PERMISSION_DENIED'],
    ['of a Run that there is not, by a Run', true, 'nosuch', undefined, 'PERMISSION_DENIED'],
  ])('%s', async (_name, isReachedByRuns, runName, uid, expected) => expect(await download(isReachedByRuns, runName, uid)).toBe(expected));
});
