import { expect, test } from 'vitest';
import { FakeApi } from '../../test/support/fake-api.ts';
import { createClient } from '../client/client.ts';
import { createInMemoryTransport } from '../client/in-memory/in-memory-transport.ts';
import { failure } from '../kube/status.ts';
import { FakeClock } from '../lib/clock-fake.ts';
import { silentLog } from '../lib/log.ts';
import { runAsLeader } from './leader-election.ts';

interface Candidate {
  stop(): void;
  result: Promise<string>;
}

function makeElection(): {
  api: FakeApi;
  clock: FakeClock;
  leaders: string[];
  stand: (identity: string, api?: FakeApi['intercept']) => Candidate;
} {
  const api = new FakeApi();
  const clock = new FakeClock();
  const leaders: string[] = [];
  const stand = (identity: string, intercept: FakeApi['intercept'] = () => {}): Candidate => {
    const stop = new AbortController();
    const handler: FakeApi['handler'] = (request) => {
      try {
        intercept(request);
      } catch (error) {
        return Promise.reject(error);
      }
      return api.handler(request);
    };
    const client = createClient(createInMemoryTransport(handler), { clock, retry: { maxRetries: 0 } });
    const lead = async (signal: AbortSignal): Promise<void> => {
      leaders.push(identity);
      expect(leaders).toHaveLength(1);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      leaders.splice(leaders.indexOf(identity), 1);
    };
    const result = runAsLeader({ client, log: silentLog, namespace: 'sys', name: 'lock', identity }, lead, stop.signal);
    return { stop: () => stop.abort(), result };
  };
  return { api, clock, leaders, stand };
}

test('one of two leads, and the other takes over soon after it stopped', async () => {
  const { api, clock, leaders, stand } = makeElection();
  const a = stand('a');
  await clock.advance(0);
  const b = stand('b');
  await clock.advance(60_000);
  expect(leaders).toEqual(['a']);
  a.stop();
  await clock.advance(0);
  expect(await a.result).toBe('stopped');
  await clock.advance(3000);
  expect(leaders).toEqual(['b']);
  expect(api.get('leases', 'sys', 'lock')?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1, leaseDurationSeconds: 15 });
  b.stop();
  await clock.advance(0);
  expect(api.get('leases', 'sys', 'lock')?.spec.holderIdentity).toBe('');
});

test('a leader that cannot renew stops leading before another starts', async () => {
  const { clock, leaders, stand } = makeElection();
  let cut = false;
  const a = stand('a', () => {
    if (cut) throw failure('ServiceUnavailable', 'cut off');
  });
  await clock.advance(0);
  const b = stand('b');
  await clock.advance(20_000);
  cut = true;
  await clock.advance(11_900);
  expect(leaders).toEqual([]);
  expect(await a.result).toBe('lost');
  await clock.advance(10_000);
  expect(leaders).toEqual(['b']);
  b.stop();
});

test('a leader that vanished is followed after the duration of its lease', async () => {
  const { api, clock, leaders, stand } = makeElection();
  api.put(
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'lock', namespace: 'sys' },
      spec: { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '2000-01-01T00:00:00.000000Z' },
    },
    'leases',
  );
  const b = stand('b');
  await clock.advance(14_000);
  expect(leaders).toEqual([]);
  await clock.advance(3000);
  expect(leaders).toEqual(['b']);
  b.stop();
});

test('work that ends by itself gives the lease up', async () => {
  const { api, clock } = makeElection();
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const options = { client, log: silentLog, namespace: 'sys', name: 'lock', identity: 'a' };
  const result = runAsLeader(options, () => Promise.resolve(), new AbortController().signal);
  await clock.advance(0);
  expect(await result).toBe('finished');
  expect(api.get('leases', 'sys', 'lock')?.spec.holderIdentity).toBe('');
});

test('a leader whose renewals are answered late stops leading before another starts', async () => {
  const { api, clock, leaders, stand } = makeElection();
  let late = false;
  const handler = api.handler;
  const slow: FakeApi['handler'] = async (request) => {
    const answer = await handler(request);
    // The server has done it; the answer takes its time.
    if (late && request.method === 'PUT') await new Promise<void>((resolve) => void clock.setTimer(7000, resolve));
    return answer;
  };
  const stop = new AbortController();
  const client = createClient(createInMemoryTransport(slow), { clock, retry: { maxRetries: 0 } });
  const lead = async (signal: AbortSignal): Promise<void> => {
    leaders.push('a');
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    leaders.splice(leaders.indexOf('a'), 1);
  };
  const a = runAsLeader({ client, log: silentLog, namespace: 'sys', name: 'lock', identity: 'a' }, lead, stop.signal);
  await clock.advance(0);
  const b = stand('b');
  await clock.advance(5000);
  late = true;
  // One renewal is done and answered 7 s later; from then on nothing reaches the server.
  await clock.advance(3000);
  const lost: FakeApi['intercept'] = (request) => {
    if (JSON.stringify(request.body ?? '').includes('"holderIdentity":"a"')) throw failure('ServiceUnavailable', 'cut off');
  };
  api.intercept = lost;
  for (let second = 0; second < 40; second++) {
    await clock.advance(1000);
    expect(leaders.length).toBeLessThan(2);
  }
  expect(await a).toBe('lost');
  expect(leaders).toEqual(['b']);
  b.stop();
  stop.abort();
});
