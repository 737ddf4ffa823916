import { expect, test } from 'vitest';
import { failure } from '../kube/status.ts';
import type { WatchEvent } from '../kube/watch-event.ts';
import { sleep } from '../lib/abort.ts';
import { FakeClock } from '../lib/clock-fake.ts';
import { createClient } from './client.ts';
import { ConfigMap } from './kinds.ts';
import { TransportError } from './transport-error.ts';
import type { Transport, TransportRequest } from './transport.ts';
import { INITIAL_EVENTS_END, type WatchOptions } from './watch.ts';

const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', version: number): WatchEvent => ({
  type,
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: String(version) } },
});
const bookmark = (version: number, annotations?: Record<string, string>): WatchEvent => ({
  type: 'BOOKMARK',
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: String(version), annotations } },
});
const gone: WatchEvent = { type: 'ERROR', object: failure('Expired', 'too old').status };
const cut = new TransportError('ConnectionLost', 'cut');

/** Each connection is a list of events; a number is milliseconds between them, an Error at its end breaks it, an Error alone refuses it. */
type Connection = (WatchEvent | number | Error)[] | Error;

async function run(
  connections: Connection[],
  options: WatchOptions = {},
): Promise<{ seen: string[]; asked: TransportRequest[]; askedAt: number[] }> {
  const asked: TransportRequest[] = [];
  const askedAt: number[] = [];
  const clock = new FakeClock();
  const stop = new AbortController();
  const transport: Transport = {
    request: () => Promise.reject(new Error('not scripted')),
    watch(request) {
      asked.push(request);
      askedAt.push(clock.monotonic());
      const connection = connections.shift();
      if (!connection) {
        stop.abort();
        return Promise.reject(new TransportError('Aborted', 'end of script'));
      }
      if (connection instanceof Error) return Promise.reject(connection);
      return Promise.resolve(play(connection, clock));
    },
    close: () => Promise.resolve(),
  };
  const client = createClient(transport, { clock, random: () => 0 });
  const seen: string[] = [];
  const reading = (async () => {
    for await (const update of client.resource(ConfigMap, 'x').watch({ ...options, signal: stop.signal })) {
      seen.push('object' in update ? `${update.type} ${update.object.metadata.resourceVersion}` : Object.values(update).join(' '));
    }
  })();
  reading.catch(() => {});
  await clock.advance(120_000);
  await reading;
  return { seen, asked, askedAt: askedAt.map((at) => at - askedAt[0]) };
}

async function* play(connection: (WatchEvent | number | Error)[], clock: FakeClock): AsyncGenerator<WatchEvent, void, void> {
  for (const one of connection) {
    await Promise.resolve();
    if (one instanceof Error) throw one;
    if (typeof one === 'number') await sleep(clock, one);
    else yield one;
  }
}

test('watch resumes behind the last event when the connection breaks or ends', async () => {
  const { seen, asked } = await run([[event('ADDED', 5), cut], [event('MODIFIED', 6), bookmark(9)], [event('DELETED', 10)]], {
    resourceVersion: '4',
  });
  expect(seen).toEqual(['ADDED 5', 'MODIFIED 6', 'BOOKMARK 9', 'DELETED 10']);
  expect(asked.map((request) => request.query?.resourceVersion)).toEqual(['4', '5', '9', '10']);
});

test.each<[string, Connection[], number[]]>([
  [
    'at once when the server ended it after a second',
    [
      [event('ADDED', 5), 1000],
      [1000, event('MODIFIED', 6)],
    ],
    [0, 1000, 2000],
  ],
  [
    'after pauses that grow when the server ends it after each event',
    [[event('ADDED', 5)], [event('MODIFIED', 6), 999], [event('MODIFIED', 7)]],
    [0, 200, 1599, 2399],
  ],
  ['after a pause when nothing came', [[1000], [1000]], [0, 1200, 2400]],
  [
    'after a pause when the connection broke',
    [
      [event('ADDED', 5), 1000, cut],
      [1000, cut],
    ],
    [0, 1200, 2400],
  ],
  [
    'after the shortest pause when a connection in between was served',
    [[event('ADDED', 5)], [], [event('MODIFIED', 6), 1000], []],
    [0, 200, 600, 1600, 1800],
  ],
])('watch goes on %s', async (_name, connections, expected) => {
  const { askedAt } = await run(connections, { resourceVersion: '3' });
  expect(askedAt).toEqual(expected);
});

test('watch says EXPIRED and ends when the server sends 410 on the stream', async () => {
  const { seen } = await run([[event('ADDED', 5), gone, event('ADDED', 6)]], { resourceVersion: '4' });
  expect(seen).toEqual(['ADDED 5', 'EXPIRED']);
});

test('watch says EXPIRED when the server refuses to resume with 410', async () => {
  const { seen } = await run([[event('ADDED', 5)], failure('Expired', 'too old')], { resourceVersion: '4' });
  expect(seen).toEqual(['ADDED 5', 'EXPIRED']);
});

test('watch reconnects after refused connections, 429 and 503', async () => {
  const refusals = [new TransportError('Unreachable', 'no'), failure('TooManyRequests', 'busy'), failure('ServiceUnavailable', 'starting')];
  const { seen, asked } = await run([...refusals, [event('ADDED', 5)]], { resourceVersion: '4' });
  expect(seen).toEqual(['ADDED 5']);
  expect(asked).toHaveLength(5);
});

test('watch throws when the server forbids it', async () => {
  await expect(run([failure('Forbidden', 'no')], { resourceVersion: '4' })).rejects.toMatchObject({ code: 403 });
});

test('watch gives initial events, then SYNCED, and resumes from there', async () => {
  const { seen, asked } = await run([[event('ADDED', 7), event('ADDED', 3), bookmark(8, { [INITIAL_EVENTS_END]: 'true' }), cut], []], {
    sendInitialEvents: true,
  });
  expect(seen).toEqual(['ADDED 7', 'ADDED 3', 'SYNCED 8']);
  expect(asked[0].query).toMatchObject({ sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' });
  expect(asked[1].query).toMatchObject({ resourceVersion: '8', sendInitialEvents: undefined, resourceVersionMatch: undefined });
});

test('watch says EXPIRED when it breaks amid the initial events', async () => {
  const { seen } = await run([[event('ADDED', 7), cut]], { sendInitialEvents: true });
  expect(seen).toEqual(['ADDED 7', 'EXPIRED']);
});
