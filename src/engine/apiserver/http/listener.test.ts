import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { SERVER_CERTIFICATE, SERVER_KEY, TEST_CA } from '../admission/testing/certificates.ts';
import type { Incoming, Outcome } from '../chain/chain.ts';
import { objectResponse } from '../chain/request.ts';
import { Listener } from './listener.ts';

const OUTCOME: Outcome = { response: objectResponse(200, { done: true }), auditID: 'a', warnings: [] };
const agent = new Agent({ ca: TEST_CA, keepAlive: true });
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function listen(handle: (incoming: Incoming) => Promise<Outcome>): Promise<{ listener: Listener; port: number; errors: unknown[] }> {
  const errors: unknown[] = [];
  const listener = new Listener({
    address: '127.0.0.1',
    port: 0,
    certificate: SERVER_CERTIFICATE,
    key: SERVER_KEY,
    authorities: { client: TEST_CA, frontProxy: '' },
    handle,
    onError: (error) => errors.push(error),
  });
  const port = await listener.listen();
  opened.push({ close: () => listener.close(0) });
  return { listener, port, errors };
}

/** Answers with the status, or with why there was no answer. */
function post(port: number, protocol: string, body: string | undefined): { answer: Promise<number | string>; abort(): void } {
  if (protocol === 'HTTP/2') {
    const session: ClientHttp2Session = connect(`https://127.0.0.1:${port}`, { ca: TEST_CA });
    session.on('error', () => {});
    opened.push({ close: () => session.destroy() });
    const stream = session.request({ ':method': 'POST', ':path': '/x', 'content-type': 'application/json' });
    stream.write(body ?? '{');
    if (body !== undefined) stream.end();
    const answer = new Promise<number | string>((resolve) => {
      stream.on('response', (headers) => resolve(Number(headers[':status'])));
      stream.on('error', (error) => resolve(String(error)));
      stream.on('close', () => resolve('closed'));
    });
    return { answer, abort: () => session.destroy() };
  }
  const request = httpsRequest({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/x',
    agent,
    headers: { 'content-type': 'application/json' },
  });
  request.write(body ?? '{');
  if (body !== undefined) request.end();
  const answer = new Promise<number | string>((resolve) => {
    request.on('response', (response) => resolve(response.resume().statusCode!));
    request.on('error', (error) => resolve(String(error)));
  });
  return { answer, abort: () => request.destroy() };
}

/** A step of the server that the test lets go on. */
function gate() {
  let open!: () => void;
  let reached!: () => void;
  const opening = new Promise<void>((resolve) => (open = resolve));
  const arrival = new Promise<void>((resolve) => (reached = resolve));
  return { open, arrival, pass: () => (reached(), opening) };
}

describe.each(['HTTP/1.1', 'HTTP/2'])('Listener over %s', (protocol) => {
  it('a body, is refused, when the client went away before anybody asked for it', async () => {
    const waiting = gate();
    let outcome = 'nothing happened';
    const { port } = await listen(async (incoming) => {
      await waiting.pass();
      outcome = await incoming.body.read().then(
        () => 'read',
        (error: Error) => error.message,
      );
      return OUTCOME;
    });
    const { abort } = post(port, protocol, undefined);
    await waiting.arrival;
    abort();
    await new Promise((resolve) => setTimeout(resolve, 100));
    waiting.open();
    await expect.poll(() => outcome).toBe('the client closed the connection before the body was complete');
  });

  it('a watch, is not started, when the client went away before it was admitted', async () => {
    const waiting = gate();
    let handled = false;
    let started = 0;
    const { port } = await listen(async () => {
      await waiting.pass();
      handled = true;
      const body = {
        kind: 'watch' as const,
        start: () => {
          started++;
          return () => void started--;
        },
        events: () => {
          throw new Error('not from a socket');
        },
      };
      return { response: { status: 200, body }, auditID: 'a', warnings: [] };
    });
    const { abort } = post(port, protocol, '{}');
    await waiting.arrival;
    abort();
    await new Promise((resolve) => setTimeout(resolve, 100));
    waiting.open();
    await expect.poll(() => handled).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(started).toBe(0);
  });

  it('a request that is being answered, gets its answer, when the server stops', async () => {
    const waiting = gate();
    const { listener, port } = await listen(async () => {
      await waiting.pass();
      return OUTCOME;
    });
    const { answer } = post(port, protocol, '{}');
    await waiting.arrival;
    const closing = listener.close(5000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    waiting.open();
    expect(await answer).toBe(200);
    const begun = performance.now();
    await closing;
    expect(performance.now() - begun).toBeLessThan(2000);
  });

  it('another entrance, is served too, until it is closed', async () => {
    const { listener } = await listen(async () => OUTCOME);
    const entrance = createServer().listen(0, '127.0.0.1');
    await once(entrance, 'listening');
    const { port } = entrance.address() as AddressInfo;
    const close = listener.enterBy(entrance);
    expect(await post(port, protocol, '{}').answer).toBe(200);
    close();
    expect(entrance.listening).toBe(false);
  });

  it('another entrance, is closed with its connections, when the server stops', async () => {
    const { listener } = await listen(async () => OUTCOME);
    const entrance = createServer().listen(0, '127.0.0.1');
    await once(entrance, 'listening');
    listener.enterBy(entrance);
    const { port } = entrance.address() as AddressInfo;
    const idle = connectTls({ port, host: '127.0.0.1', ca: TEST_CA, ALPNProtocols: [protocol === 'HTTP/2' ? 'h2' : 'http/1.1'] });
    await once(idle, 'secureConnect');
    const gone = once(idle, 'close');
    idle.on('error', () => {});
    idle.resume();
    await listener.close(0);
    expect(entrance.listening).toBe(false);
    await gone;
  });
});
