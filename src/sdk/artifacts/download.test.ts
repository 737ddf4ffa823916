import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { Server, ServerCredentials, status, type ServerWritableStream } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ArtifactService,
  DownloadResponseSchema,
  type DownloadRequest,
  type DownloadResponse,
} from '../../areas/runs/protocol/generated/artifact_pb.js';
import { grpcService } from '../../areas/runs/protocol/grpc-service.ts';
import { receive } from './download.ts';

/** More than the buffers on the way hold: whoever stops after the first piece has not got all of it. */
const content = Buffer.alloc(16_000_000, 'artifact ');
const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
const folder = mkdtempSync(join(tmpdir(), 'tenantry-artifact-'));
const request = { namespace: 'ns', runName: 'r', runUid: 'u', artifactName: 'report' };

/** The artifact service as runtimed has it: metadata, then frames of 64 KiB. */
function download(call: ServerWritableStream<DownloadRequest, DownloadResponse>): void {
  const { artifactName } = call.request;
  if (artifactName !== 'report') return void call.emit('error', { code: status.NOT_FOUND, details: 'artifact "ä" not found' });
  call.write(create(DownloadResponseSchema, { metadata: { name: artifactName, sizeBytes: BigInt(content.length), digest } }));
  for (let at = 0; at < content.length; at += 65_536)
    call.write(create(DownloadResponseSchema, { data: content.subarray(at, at + 65_536) }));
  call.end();
}

describe('receive', () => {
  const server = new Server();
  let port = 0;
  beforeAll(async () => {
    server.addService(grpcService(ArtifactService), { download });
    port = await new Promise((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound))),
    );
  });
  afterAll(() => {
    server.forceShutdown();
    rmSync(folder, { recursive: true });
  });

  const file = join(folder, 'report');

  it('takes an artifact from a server of the gRPC library, and tells how far it is', async () => {
    const seen: number[] = [];
    const expected = { sizeBytes: content.length, digest };
    await receive(connect(port, '127.0.0.1'), request, expected, file, { onProgress: (bytes) => seen.push(bytes) });
    expect(readFileSync(file).equals(content)).toBe(true);
    expect(seen.at(-1)).toBe(content.length);
    expect(seen.length).toBeGreaterThan(10);
    rmSync(file);
  });

  it.each([
    ['is not there', { ...request, artifactName: 'x' }, { sizeBytes: 1 }, 'artifact "ä" not found'],
    ['is shorter than it was', request, { sizeBytes: content.length + 1 }, `${content.length} bytes came instead of ${content.length + 1}`],
    ['is another than it was', request, { sizeBytes: content.length, digest: 'sha256:00' }, 'instead of sha256:00'],
  ])('leaves nothing behind when the artifact %s', async (_name, asked, expected, message) => {
    await expect(receive(connect(port, '127.0.0.1'), asked, expected, file, {})).rejects.toThrow(message);
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('fails when the connection is gone', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.destroy();
    await expect(receive(socket, request, { sizeBytes: 1 }, file, {})).rejects.toThrow('closed before the call');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('fails when the connection breaks', async () => {
    const socket = connect(port, '127.0.0.1');
    const expected = { sizeBytes: content.length, digest };
    await expect(receive(socket, request, expected, file, { onProgress: () => socket.destroy() })).rejects.toThrow();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('stops when it is told to', async () => {
    const controller = new AbortController();
    const expected = { sizeBytes: content.length, digest };
    const options = { signal: controller.signal, onProgress: () => controller.abort(new Error('enough')) };
    await expect(receive(connect(port, '127.0.0.1'), request, expected, file, options)).rejects.toThrow('enough');
    expect(readdirSync(folder)).toEqual([]);
  });
});
