import { expect, test, vi } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import type { Run, RunPhase, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import { failure, type StatusError } from '../../../kube/status.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { MetricsRegistry } from '../../../lib/metrics.ts';
import type { RunWorkerPorts } from './run-worker.ts';
import { Runtimed } from './runtimed.ts';
import { runtimedMetrics } from './runtimed-metrics.ts';

const POD = { name: 'pod-1', uid: 'uid-of-pod' };

/** A runtimed whose programs succeed at once, and whose writes are answered; their events come when the test puts them. */
function setUp() {
  const api = new FakeApi();
  const clock = new FakeClock();
  const client = createClient(createInMemoryTransport(api.handler), { clock, random: () => 0 });
  const written: string[] = [];
  const refused = new Map<RunPhase, StatusError>();
  let newest = 0;
  const cleanUp = vi.fn();
  const put = (status: Partial<RunStatus>): void => {
    const metadata = { name: 'one', namespace: 'here', uid: 'uid-of-run' };
    const spec = { runtime: 'bash', mode: { task: { args: ['true'] } } };
    const place = { assignedPod: POD.name, assignedPodUID: POD.uid };
    api.put({ apiVersion: 'kruntimes.io/v1alpha1', kind: 'Run', metadata, spec, status: { ...place, ...status } }, 'runs');
    newest = Math.max(newest, api.revision);
  };
  const runtime: RunWorkerPorts['runtime'] = {
    execute: async () => ({ warm: true }),
    follow: async () => ({ succeeded: true, exitCode: 0, errorMessage: '' }),
    cancel: async () => {},
    forget: async () => {},
    list: async () => [],
    health: async () => ({ healthy: true, message: '' }),
    status: () => Promise.reject(new Error('not asked for')),
    close: () => {},
  };
  const worker: RunWorkerPorts = {
    pod: POD,
    async writeStatus(run, status): Promise<Run> {
      const refusal = refused.get(status.phase);
      if (refusal !== undefined) throw refusal;
      written.push(status.phase);
      return { ...run, status, metadata: { ...run.metadata, resourceVersion: String(++newest) } };
    },
    read: () => Promise.reject(new Error('not asked for')),
    environment: async () => ({}),
    prepare: async () => ({ workingDir: '/w', outputs: '/w/outputs' }),
    readOutputs: async () => ({ outputs: {} }),
    keepLog: async () => undefined,
    cleanUp: () => cleanUp(),
    runtime,
    isolation: { isolation: 'shared', network: true },
    print: () => {},
    clock,
    log: silentLog,
    metrics: runtimedMetrics(new MetricsRegistry()),
    trace: (_run, _step, work) => work(),
    event: () => {},
  };
  const capacity = new Map([['runs', 1]]);
  const runtimed = new Runtimed({ client, namespace: 'here', runtimeName: 'bash', capacity, runtime, worker, clock, log: silentLog });
  return { clock, put, written, refused, cleanUp, runtimed };
}

test('runtimed begins nothing for states of a Run that are older than the end it wrote, and begins again when it is given back', async () => {
  const { clock, put, written, runtimed } = setUp();
  const stop = new AbortController();
  const running = runtimed.run(stop.signal);
  put({ phase: 'Scheduled' });
  await clock.advance(0);
  expect(written).toEqual(['Running', 'Succeeded']);
  put({ phase: 'Running' });
  await clock.advance(0);
  expect(written).toEqual(['Running', 'Succeeded']);
  expect(runtimed.activeRuns).toBe(0);
  put({ phase: 'Succeeded' });
  put({ phase: 'Scheduled' });
  await clock.advance(0);
  expect(written).toEqual(['Running', 'Succeeded', 'Running', 'Succeeded']);
  stop.abort();
  await running;
});

test.each([
  ['no end could be written', () => {}],
  [
    'its worker failed',
    () => {
      throw new Error('no');
    },
  ],
])('runtimed brings a Run to its end when it is told again of the state in which it gave it up, because %s', async (_name, failing) => {
  const { clock, put, written, refused, cleanUp, runtimed } = setUp();
  const stop = new AbortController();
  const running = runtimed.run(stop.signal);
  for (const phase of ['Succeeded', 'Failed'] as const) refused.set(phase, failure('Forbidden', 'no'));
  cleanUp.mockImplementation(failing);
  put({ phase: 'Scheduled' });
  await clock.advance(0);
  expect(written).toEqual(['Running']);
  expect(runtimed.activeRuns).toBe(0);
  refused.clear();
  cleanUp.mockReset();
  put({ phase: 'Running' });
  await clock.advance(0);
  expect(written).toEqual(['Running', 'Failed']);
  stop.abort();
  await running;
});
