import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  credentials,
  makeClientConstructor,
  status as codes,
  type Client,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArtifactStore } from '../../../src/api/kruntimes.io/v1alpha1/artifact-store.ts';
import { RunKind } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { DEFAULT_ARTIFACT_LIMITS } from '../../../src/areas/runs/artifacts/collect-artifacts.ts';
import { openStore } from '../../../src/areas/runs/artifacts/open-store.ts';
import { ArtifactService, type DownloadResponse } from '../../../src/areas/runs/protocol/generated/artifact_pb.js';
import { ExecutionState, Runtime, type StatusResponse } from '../../../src/areas/runs/protocol/generated/executor_pb.js';
import { grpcService } from '../../../src/areas/runs/protocol/grpc-service.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { S3Server } from '../../support/s3-server.ts';
import { RunsWorld, type RuntimePodHere } from './runs-world.ts';

const CLAIM: ArtifactStore = { driver: 'filesystem', filesystem: { volumeClaimName: 'claim' } };
type Stub = Client & Record<string, CallableFunction>;

function connect(port: number): { artifacts: Stub; runtime: Stub } {
  const stub = (service: typeof ArtifactService | typeof Runtime) =>
    new (makeClientConstructor(grpcService(service), 'S'))(`127.0.0.1:${port}`, credentials.createInsecure()) as Stub;
  return { artifacts: stub(ArtifactService), runtime: stub(Runtime) };
}

describe('artifacts of a Run', () => {
  const root = mkdtempSync(join(tmpdir(), 'tenantry-artifact-root-'));
  let world: RunsWorld;
  let pod: RuntimePodHere;
  beforeAll(async () => {
    world = await RunsWorld.start();
    const store = openStore(CLAIM, { root, environment: {}, clock: realClock });
    pod = await world.pod('pod-1', 4, { store, description: CLAIM, limits: { ...DEFAULT_ARTIFACT_LIMITS, artifactBytes: 1 << 20 } });
  }, 30_000);
  afterAll(async () => {
    await world?.stop();
    rmSync(root, { recursive: true, force: true });
  });

  const download = (request: object): Promise<{ metadata?: DownloadResponse['metadata']; bytes: Buffer; frames: number[] }> =>
    new Promise((resolve, reject) => {
      const client = connect(pod.statusPort).artifacts;
      const stream = client['download'](request) as ClientReadableStream<DownloadResponse>;
      const frames: DownloadResponse[] = [];
      stream.on('data', (frame: DownloadResponse) => frames.push(frame));
      stream.on('error', reject);
      stream.on('end', () => {
        client.close();
        const bytes = Buffer.concat(frames.map(({ data }) => data));
        resolve({ metadata: frames[0]?.metadata, bytes, frames: frames.map(({ data }) => data.length) });
      });
    });

  it('are stored before it succeeds, and the Run says where', async () => {
    await world.create(
      'makes',
      'echo hi > "$KRUNTIME_ARTIFACTS_DIR/a.txt"; mkdir "$KRUNTIME_ARTIFACTS_DIR/d"; echo x > "$KRUNTIME_ARTIFACTS_DIR/d/x"',
    );
    const { status, metadata } = await world.ended('makes');
    const digest = `sha256:${createHash('sha256').update('hi\n').digest('hex')}`;
    const path = `namespaces/default/runs/${metadata.uid}`;
    expect(status).toMatchObject({ phase: 'Succeeded', artifactStore: CLAIM });
    expect(status?.artifactRefs).toMatchObject([
      {
        name: 'a.txt',
        driver: 'filesystem',
        type: 'file',
        sizeBytes: 3,
        digest,
        location: { filesystem: { path: `${path}/a.txt`, volumeClaimName: 'claim' } },
      },
      { name: 'd', type: 'directory', contentType: 'application/gzip' },
    ]);
    expect(metadata.finalizers).toEqual(['kruntimes.io/artifact-cleanup']);
    expect(readFileSync(join(root, path, 'a.txt'), 'utf8')).toBe('hi\n');
    await expect.poll(() => existsSync(`${pod.workspace}/${metadata.uid}`)).toBe(false);
  });

  it('that a Run does not leave cost it nothing', async () => {
    await world.create('nothing', 'true');
    const { status, metadata } = await world.ended('nothing');
    expect(status?.artifactStore).toBeUndefined();
    expect(metadata.finalizers).toBeUndefined();
  });

  it('that may not be stored fail it, once and for all', async () => {
    await world.create('links', 'ln -s /etc/passwd "$KRUNTIME_ARTIFACTS_DIR/p"', { retryPolicy: { maxAttempts: 3 } });
    const { status } = await world.ended('links');
    expect(status).toMatchObject({ phase: 'Failed', attempt: 1, message: expect.stringContaining('artifact "p" is a symbolic link') });
    expect(status?.conditions?.find(({ type }) => type === 'Completed')?.reason).toBe('ArtifactInvalid');
    await world.create('large', 'head -c 1048577 /dev/zero > "$KRUNTIME_ARTIFACTS_DIR/z"');
    expect((await world.ended('large')).status).toMatchObject({ phase: 'Failed', message: 'artifact "z" is larger than 1048576 bytes' });
  });

  it('are not stored when it fails', async () => {
    await world.create('fails', 'echo hi > "$KRUNTIME_ARTIFACTS_DIR/a"; exit 3');
    const { status, metadata } = await world.ended('fails');
    expect(status?.artifactRefs).toBeUndefined();
    expect(existsSync(join(root, 'namespaces/default/runs', metadata.uid!))).toBe(false);
  });

  it('are streamed to whoever asks runtimed: first what it is, then its bytes', async () => {
    await world.create('big', 'head -c 200000 /dev/urandom > "$KRUNTIME_ARTIFACTS_DIR/big.bin"');
    const { status } = await world.ended('big');
    const { metadata, bytes, frames } = await download({ namespace: 'default', runName: 'big', artifactName: 'big.bin' });
    expect(metadata).toMatchObject({ name: 'big.bin', type: 'file', sizeBytes: 200_000n, digest: status!.artifactRefs![0].digest });
    expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(metadata?.digest);
    expect(frames[0]).toBe(0);
    expect(Math.max(...frames)).toBeLessThanOrEqual(64 << 10);
  });

  it.each<[string, object, keyof typeof codes]>([
    ['a missing name', { namespace: 'default', runName: 'big' }, 'INVALID_ARGUMENT'],
    ['another namespace', { namespace: 'other', runName: 'big', artifactName: 'big.bin' }, 'PERMISSION_DENIED'],
    ['a Run that is not there', { namespace: 'default', runName: 'none', artifactName: 'a' }, 'NOT_FOUND'],
    ['an artifact that is not there', { namespace: 'default', runName: 'big', artifactName: '../big.bin' }, 'NOT_FOUND'],
    ['a Run of another Runtime', { namespace: 'default', runName: 'foreign', artifactName: 'a' }, 'PERMISSION_DENIED'],
  ])('are refused for %s', async (_name, request, code) => {
    if (_name.includes('another Runtime')) await world.create('foreign', 'true', { runtime: 'elsewhere' });
    await expect(download(request)).rejects.toMatchObject({ code: codes[code] });
  });

  it('are beside the status of executions, and nothing else is', async () => {
    const run = await world.create('asked', 'echo out; sleep 60');
    await expect.poll(() => pod.lines.some((line) => line.includes('"run_name":"asked"'))).toBe(true);
    const { runtime } = connect(pod.statusPort);
    const ask = (method: string, id: string) =>
      new Promise<StatusResponse>((resolve, reject) =>
        runtime[method]({ id }, (error: ServiceError | null, answer: StatusResponse) => (error === null ? resolve(answer) : reject(error))),
      );
    expect(await ask('status', run.metadata.uid!)).toMatchObject({ state: ExecutionState.RUNNING, stdout: 'out\n' });
    await expect(ask('status', 'none')).rejects.toMatchObject({ code: codes.NOT_FOUND });
    for (const method of ['cancel', 'forget', 'execute', 'list']) {
      await expect(ask(method, run.metadata.uid!)).rejects.toMatchObject({ code: codes.UNIMPLEMENTED });
    }
    await world.client.resource(RunKind, 'default').delete('asked');
    runtime.close();
  });
});

describe('artifacts in a bucket', () => {
  let server: S3Server;
  let world: RunsWorld;
  beforeAll(async () => {
    server = await S3Server.start();
    const { bucket, region, endpoint } = server;
    const description: ArtifactStore = { driver: 's3', s3: { bucket, region, endpoint, forcePathStyle: true, prefix: 'p' } };
    const { accessKeyId, secretAccessKey } = server.credentials;
    const environment = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
    world = await RunsWorld.start();
    await world.pod('pod-1', 4, {
      store: openStore(description, { root: '', environment, clock: realClock }),
      description,
      limits: DEFAULT_ARTIFACT_LIMITS,
    });
  }, 30_000);
  afterAll(async () => {
    await world?.stop();
    await server?.stop();
  });

  const script = 'echo 1 > "$KRUNTIME_ARTIFACTS_DIR/one"; echo 2 > "$KRUNTIME_ARTIFACTS_DIR/two"';

  it('are objects with keys of the original', async () => {
    await world.create('good', script);
    const { status, metadata } = await world.ended('good');
    const key = `p/namespaces/default/runs/${metadata.uid}/one`;
    expect(status?.artifactRefs?.[0]).toMatchObject({ name: 'one', driver: 's3', location: { s3: { bucket: 'artifacts', key } } });
    expect(server.objects.get(key)?.body.toString()).toBe('1\n');
  });

  it('that the bucket refuses fail the Run with what it said, and nothing of them stays', async () => {
    server.refuse = (method, key) => (method === 'PUT' && key.endsWith('/two') ? { status: 403, code: 'AccessDenied' } : undefined);
    await world.create('refused', script);
    const { status, metadata } = await world.ended('refused');
    server.refuse = undefined;
    expect(status).toMatchObject({ phase: 'Failed', message: 'bucket "artifacts": AccessDenied: told by the test' });
    expect([...server.objects.keys()].filter((key) => key.includes(metadata.uid!))).toEqual([]);
    // What was begun is cleaned up with the Run, whatever happened.
    expect(metadata.finalizers).toEqual(['kruntimes.io/artifact-cleanup']);
  });

  it('wait for a bucket that is away, and other Runs do not', async () => {
    let isAway = true;
    server.refuse = (method, _key) => (method === 'PUT' && isAway ? { status: 503, code: 'ServiceUnavailable' } : undefined);
    await world.create('patient', script);
    await world.create('other', 'true');
    expect((await world.ended('other')).status?.phase).toBe('Succeeded');
    expect((await world.get('patient')).status?.phase).not.toBe('Succeeded');
    isAway = false;
    expect((await world.ended('patient')).status?.phase).toBe('Succeeded');
    server.refuse = undefined;
  });

  it('of a Run that is cancelled meanwhile are taken back', async () => {
    server.refuse = (method, key) => (method === 'PUT' && key.endsWith('/two') ? { status: 503, code: 'ServiceUnavailable' } : undefined);
    await world.create('cancelled', script);
    await expect.poll(() => [...server.objects.keys()].filter((key) => key.endsWith('/one')).length).toBe(3);
    await world.patch('cancelled', { cancelRequested: true });
    const { status, metadata } = await world.ended('cancelled');
    server.refuse = undefined;
    expect(status?.phase).toBe('Cancelled');
    expect([...server.objects.keys()].filter((key) => key.includes(metadata.uid!))).toEqual([]);
  });
});
