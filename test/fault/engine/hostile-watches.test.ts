import { connect, type ClientHttp2Session } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectMostlyQuietLoop, expectQuietLoop, whileMeasured, whileQuiet } from '../../support/event-loop-promise.ts';
import { startMeasuredEngine, type MeasuredEngine } from '../../support/measured-engine.ts';

/** Promise: watches are bounded per user, and one that is not read costs no memory. */
const PATH = '/api/v1/namespaces/default/configmaps';
const ROUNDS = Number(process.env.TENANTRY_FAULT_ROUNDS ?? 1);
const LIMIT = 5000;
/** Megabytes of events that a stopped reader misses. */
const MISSED = ROUNDS > 1 ? 200 : 40;

let engine: MeasuredEngine;
beforeAll(async () => {
  engine = await startMeasuredEngine();
});
afterAll(() => engine.stop());

function session(): ClientHttp2Session {
  const made = connect(engine.url.origin, engine.tls);
  made.on('error', () => {});
  return made;
}

interface Opened {
  status: number;
  retryAfter?: string;
}

function openWatch(on: ClientHttp2Session, path: string, onData: () => void = () => {}): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const stream = on.request({ ':path': path });
    stream.on('response', (headers) => resolve({ status: Number(headers[':status']), retryAfter: headers['retry-after'] as string }));
    stream.on('data', onData);
    stream.on('error', reject);
    stream.end();
  });
}

async function write(name: string, text: string): Promise<void> {
  const { status } = await engine.target.request('PUT', `${PATH}/${name}`, { metadata: { name }, data: { text } });
  expect(status).toBe(200);
}

it('a user has 5,000 watches at most, and whoever asks for more is told when to come back', { timeout: 180_000 }, async () => {
  // The code must be warm: what is measured is the work, not the compiler.
  const first = session();
  await Promise.all(Array.from({ length: 90 }, () => openWatch(first, `${PATH}?watch=1`)));
  first.destroy();
  const sessions = Array.from({ length: 60 }, session);
  const opened: Opened[] = [];
  let events = 0;
  const { report } = await whileMeasured(engine, async () => {
    for (let from = 0; from < LIMIT; from += 250) {
      const batch = Array.from({ length: 250 }, (_, i) =>
        openWatch(sessions[(from + i) % 50], `${PATH}?watch=1&labelSelector=app=${i}`, () => events++),
      );
      opened.push(...(await Promise.all(batch)));
    }
  });
  expect(opened.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
  const refused = await Promise.all(Array.from({ length: 20 }, (_, i) => openWatch(sessions[50 + (i % 10)], `${PATH}?watch=1`)));
  expect(refused.every(({ status, retryAfter }) => status === 429 && Number(retryAfter) > 0)).toBe(true);
  expect((await engine.report()).rss / 1e6).toBeLessThan(450);

  const made = await engine.target.request('POST', PATH, { metadata: { name: 'seen', labels: { app: '7' } } });
  expect(made.status).toBe(201);
  await expect.poll(() => events).toBe(LIMIT / 250);
  for (const one of sessions) one.destroy();
  await expect
    .poll(async () => {
      const after = session();
      const { status } = await openWatch(after, `${PATH}?watch=1`);
      after.destroy();
      return status;
    })
    .toBe(200);
  expectMostlyQuietLoop(report, `${LIMIT} watches, 250 at once`);
});

it(`${MISSED} MB of events past readers that stopped cost no memory, and others get them all`, { timeout: 120_000 }, async () => {
  const names = Array.from({ length: 8 }, (_, i) => `written-${i}`);
  for (const name of names) await engine.target.request('POST', PATH, { metadata: { name } });
  const stopped = await Promise.all(Array.from({ length: 4 }, stoppedReader));
  const deaf = session();
  for (let i = 0; i < 4; i++) deaf.request({ ':path': `${PATH}?watch=1` }).end();
  const reader = await engine.target.watch(`${PATH}?watch=1`);
  await engine.collectGarbage();
  const before = await engine.report();

  const text = 'z'.repeat(200_000);
  const writes = Math.floor((MISSED * 1_000_000) / text.length / names.length);
  const writeAll = (pass: number) =>
    Promise.all(
      names.map(async (name) => {
        for (let i = 0; i < writes; i++) await write(name, `${text}${pass}-${i}`);
      }),
    );
  await writeAll(0);
  const last = new Map<string, string>();
  while ([...last.values()].filter((value) => value.endsWith(`z0-${writes - 1}`)).length < names.length) {
    const event = await reader.next();
    expect(event?.type, 'the reader that keeps up is not cut').toMatch(/ADDED|MODIFIED/);
    last.set(event.object.metadata.name, event.object.data?.text ?? '');
  }
  await engine.collectGarbage();
  const after = await engine.report();
  // What history keeps is bounded by compaction and shared by all; per stopped reader it is what one socket buffers.
  expect((after.heap + after.external - before.heap - before.external) / 1e6).toBeLessThan(MISSED + 60);
  expect((after.heap - before.heap) / 1e6).toBeLessThan(60);
  await whileQuiet(engine, 'writes of 200 KB past slow watchers', (round) => writeAll(1 + round));
  reader.stop();
  for (const socket of stopped) socket.destroy();
  deaf.destroy();
});

function stoppedReader(): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: engine.url.hostname, port: Number(engine.url.port), ...engine.tls });
    socket.once('error', reject);
    socket.once('secureConnect', () => socket.write(`GET ${PATH}?watch=1 HTTP/1.1\r\nhost: a\r\n\r\n`));
    socket.once('data', () => {
      socket.pause();
      resolve(socket);
    });
  });
}

/** The watches of the test before may still be on their way out. */
async function openWhenAllowed(...parameters: Parameters<typeof openWatch>): ReturnType<typeof openWatch> {
  for (let attempt = 0; ; attempt++) {
    const opened = await openWatch(...parameters);
    if (opened.status !== 429 || attempt === 100) return opened;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
}

it('watches on 1,000 namespaces cost a write nothing', async () => {
  const sessions = Array.from({ length: 10 }, session);
  const opened = await Promise.all(
    Array.from({ length: 1000 }, (_, i) => openWhenAllowed(sessions[i % 10], `/api/v1/namespaces/ns-${i}/configmaps?watch=1`)),
  );
  expect(opened.every(({ status }) => status === 200)).toBe(true);
  const { report } = await whileMeasured(engine, async () => {
    for (let i = 0; i < 50; i++) await write('written-0', `x${i}`);
  });
  expectQuietLoop(report, '50 writes');
  for (const one of sessions) one.destroy();
});

it('300 connections that ask for nothing leave the others alone', async () => {
  const connected = () =>
    new Promise<TLSSocket>((resolve, reject) => {
      const socket = connectTls({ host: engine.url.hostname, port: Number(engine.url.port), ca: engine.tls.ca });
      socket.once('error', reject);
      socket.once('secureConnect', () => resolve(socket));
    });
  const idle: TLSSocket[] = [];
  await whileQuiet(engine, '300 connections at once', async () => {
    idle.push(...(await Promise.all(Array.from({ length: 300 }, connected))));
  });
  const { report } = await whileMeasured(engine, async () => {
    for (let i = 0; i < 50; i++) expect((await engine.target.request('GET', `${PATH}/written-0`)).status).toBe(200);
  });
  expectQuietLoop(report, '50 reads beside idle connections');
  for (const socket of idle) socket.destroy();
});
