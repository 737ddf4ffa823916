import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { createClient } from '../../client/client.ts';
import { TransportError } from '../../client/transport-error.ts';
import type { Transport, TransportRequest } from '../../client/transport.ts';
import { outputPorts } from './output-ports.ts';

const run = (status: Partial<Run['status']>): Run => ({
  apiVersion: 'kruntimes.io/v1alpha1',
  kind: 'Run',
  metadata: { name: 'r', namespace: 'ns', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { runtime: 'bash', mode: { task: {} } },
  status: { phase: 'Running', assignedPod: 'p', ...status },
});

function ports(stream: (request: TransportRequest) => Promise<{ status: number; body: string }>) {
  const transport = {
    stream: async (request: TransportRequest) => {
      const { status, body } = await stream(request);
      return { status, headers: {}, body: Readable.from([Buffer.from(body)]) };
    },
  } as unknown as Transport;
  return outputPorts({ client: createClient(transport), transport, namespace: 'ns', server: '' }, 'ns');
}

const { signal } = new AbortController();

describe('podLog', () => {
  it.each([
    ['from when the Run came to the Pod', { conditions: [{ type: 'Scheduled', lastTransitionTime: '2026-01-01T00:00:20Z' }] }, '00:00:19'],
    ['from its start, when nobody says', { startTime: '2026-01-01T00:00:10Z' }, '00:00:09'],
    ['from its creation, when nobody knows', {}, '23:59:59'],
  ])('asks for runtimed, %s', async (_name, status, since) => {
    let asked: TransportRequest | undefined;
    const { podLog } = ports((request) => {
      asked = request;
      return Promise.resolve({ status: 200, body: 'log' });
    });
    await podLog(run(status as never), { follow: true, signal });
    expect(asked).toMatchObject({ path: '/api/v1/namespaces/ns/pods/p/log', query: { container: 'runtimed', follow: 'true' } });
    expect(asked?.query?.sinceTime).toContain(`T${since}`);
  });

  it('is none when the Pod is gone or its log may not be read', async () => {
    for (const status of [403, 404, 502]) {
      const { podLog } = ports(() => Promise.resolve({ status, body: 'no' }));
      expect(await podLog(run({}), { follow: false, signal })).toBeUndefined();
    }
  });

  it('is none for a moment while the server is away, for somebody who follows', async () => {
    const { podLog } = ports(() => Promise.reject(new TransportError('Unreachable', 'away')));
    expect(await podLog(run({}), { follow: true, signal })).toBeUndefined();
    await expect(podLog(run({}), { follow: false, signal })).rejects.toThrow('away');
  });
});
