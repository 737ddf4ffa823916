import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isTransportError } from '../../../src/client/transport-error.ts';
import type { Transport } from '../../../src/client/transport.ts';
import type { WatchEvent } from '../../../src/kube/watch-event.ts';
import { modified, ScriptedApi } from './scripted-api.ts';

export interface StartedTransport {
  transport: Transport;
  stop(): Promise<void>;
}

/** What every way of reaching an API server promises. `start` serves the scripted API over the transport under test. */
export function transportSuite(name: string, start: (api: ScriptedApi) => Promise<StartedTransport>): void {
  describe(`transport ${name}`, () => {
    const api = new ScriptedApi();
    let started: StartedTransport;
    beforeAll(async () => {
      started = await start(api);
    });
    afterAll(() => started.stop());

    test('request gives status, lower-case headers and the decoded body', async () => {
      const response = await started.transport.request({ method: 'GET', path: '/object' });
      expect(response.status).toBe(200);
      expect(response.headers['content-type']).toContain('application/json');
      expect(response.body).toMatchObject({ metadata: { name: 'x' }, data: { key: 'ünï' } });
    });

    test.each([400, 404, 409, 410, 422, 429, 500, 503])('request resolves when the server refuses with %i', async (code) => {
      const response = await started.transport.request({ method: 'GET', path: `/status/${code}` });
      expect(response).toMatchObject({ status: code, body: { kind: 'Status', message: `scripted ${code}`, code } });
      if (code === 429) expect(response.headers).toMatchObject({ 'retry-after': '3', warning: '299 - "one", 299 - "two \\"quoted\\""' });
    });

    test('request carries method, query, headers, content type and body', async () => {
      const { body } = await started.transport.request({
        method: 'PATCH',
        path: '/echo',
        query: { labelSelector: 'a in (b, c),d=ü&e', many: ['1', '2'], absent: undefined },
        headers: { 'X-Test': 'yes', Accept: 'application/json;as=Table' },
        contentType: 'application/merge-patch+json',
        body: { spec: { replicas: 2, gone: null, dropped: undefined }, list: [1, { two: true }] },
      });
      expect(body).toEqual({
        method: 'PATCH',
        path: '/echo',
        query: { labelSelector: 'a in (b, c),d=ü&e', many: ['1', '2'] },
        test: 'yes',
        accept: 'application/json;as=Table',
        contentType: 'application/merge-patch+json',
        body: { spec: { replicas: 2, gone: null }, list: [1, { two: true }] },
      });
    });

    test('request leaves what it was given to its caller, frozen parts included', async () => {
      const sent = { metadata: Object.freeze({ name: 'a', labels: Object.freeze({ x: '1' }) }) };
      const { body } = await started.transport.request({ method: 'POST', path: '/echo', body: sent });
      expect((body as { body: unknown }).body).toEqual(sent);
      expect((body as { body: unknown }).body).not.toBe(sent);
    });

    test('request accepts an answer without JSON', async () => {
      expect((await started.transport.request({ method: 'GET', path: '/empty' })).body).toBe('');
    });

    test('request rejects with Aborted when the signal fired before it', async () => {
      const failed = started.transport.request({ method: 'GET', path: '/object', signal: AbortSignal.abort() });
      await expect(failed).rejects.toSatisfy((error) => isTransportError(error, 'Aborted'));
    });

    test('request rejects with Aborted when the signal fires under way, and the server notices', async () => {
      const controller = new AbortController();
      const failed = started.transport.request({ method: 'GET', path: '/hang', signal: controller.signal });
      failed.catch(() => {});
      await vi.waitFor(() => expect(api.hanging).toBe(1));
      controller.abort();
      await expect(failed).rejects.toSatisfy((error) => isTransportError(error, 'Aborted'));
      await vi.waitFor(() => expect(api.hanging).toBe(0));
    });

    test('many requests are under way at once', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => started.transport.request({ method: 'GET', path: '/object' })));
      expect(answers.every((one) => one.status === 200)).toBe(true);
    });

    watchTests(api, () => started.transport);

    test('request and watch reject with Closed after close', async () => {
      const other = await start(api);
      await other.transport.request({ method: 'GET', path: '/object' });
      await other.transport.close();
      const closed = (error: unknown): boolean => isTransportError(error, 'Closed');
      await expect(other.transport.request({ method: 'GET', path: '/object' })).rejects.toSatisfy(closed);
      await expect(other.transport.watch({ method: 'GET', path: '/watch' })).rejects.toSatisfy(closed);
      await other.stop();
    });
  });
}

function watchTests(api: ScriptedApi, transport: () => Transport): void {
  const open = async (signal?: AbortSignal): Promise<{ events: AsyncIterable<WatchEvent>; watch: ScriptedApi['watches'][number] }> => {
    const events = await transport().watch({ method: 'GET', path: '/watch', query: { watch: 'true' }, signal });
    return { events, watch: api.watches.at(-1)! };
  };

  test('watch gives events in order and ends when the server ends it', async () => {
    const { events, watch } = await open();
    watch.push(modified(1), modified(2, { text: 'line\nbreak ü' }));
    const seen: unknown[] = [];
    for await (const event of events) {
      seen.push(event);
      if (seen.length === 2) {
        for (let version = 3; version <= 500; version++) watch.push(modified(version, { pad: 'x'.repeat(version) }));
        watch.finish();
      }
    }
    expect(seen).toHaveLength(500);
    expect(seen[1]).toEqual(modified(2, { text: 'line\nbreak ü' }));
    expect(
      seen.map((event) => Number((event as { object: { metadata: { resourceVersion: string } } }).object.metadata.resourceVersion)),
    ).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
  });

  test('watch rejects with the Status when the server refuses it', async () => {
    await expect(transport().watch({ method: 'GET', path: '/watch-expired', query: { watch: 'true' } })).rejects.toMatchObject({
      name: 'StatusError',
      code: 410,
      reason: 'Expired',
    });
  });

  test('watch ends when the signal fires while it waits, and the server notices', async () => {
    const controller = new AbortController();
    const { events, watch } = await open(controller.signal);
    const reading = (async () => {
      for await (const event of events) expect(event).toBeUndefined();
    })();
    controller.abort();
    await reading;
    await vi.waitFor(() => expect(watch.ended).toBe(true));
  });

  test('watch lets the server go when its reader leaves', async () => {
    const { events, watch } = await open();
    watch.push(modified(1), modified(2));
    for await (const event of events) {
      expect(event.type).toBe('MODIFIED');
      break;
    }
    watch.finish();
    await vi.waitFor(() => expect(watch.ended).toBe(true));
  });
}
