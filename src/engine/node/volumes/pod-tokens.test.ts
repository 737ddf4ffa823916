import { beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { TransportRequest } from '../../../client/transport.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { failure } from '../../../kube/status.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { PodTokens } from './pod-tokens.ts';

const HOUR_MS = 3_600_000;
const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
  spec: { serviceAccountName: 'robot' },
};
const source = { path: 'token', expirationSeconds: 3600 };

let clock: FakeClock;
let requests: TransportRequest[];
let refuses: boolean;
/** What the server makes of the wish. */
let granted: number | undefined;
let tokens: PodTokens;

beforeEach(() => {
  clock = new FakeClock();
  requests = [];
  refuses = false;
  granted = undefined;
  const transport = createInMemoryTransport(async (request) => {
    requests.push(request);
    if (refuses) return { status: 403, headers: {}, body: failure('Forbidden', 'not today').status };
    const wish = (request.body as Json).spec;
    const expirationSeconds: number = granted ?? wish.expirationSeconds;
    const expirationTimestamp = new Date(clock.now() + expirationSeconds * 1000).toISOString();
    const status = { token: `t${requests.length}`, expirationTimestamp };
    return { status: 201, headers: {}, body: { ...(request.body as Json), spec: { ...wish, expirationSeconds }, status } };
  });
  tokens = new PodTokens({ client: createClient(transport, { clock }), clock, random: () => 0 });
});

describe('PodTokens', () => {
  it('asks for a token of the ServiceAccount that is bound to the Pod', async () => {
    expect(await tokens.tokenFor(pod, { ...source, audience: 'vault' })).toBe('t1');
    expect(requests[0].path).toBe('/api/v1/namespaces/shop/serviceaccounts/robot/token');
    expect((requests[0].body as Json).spec).toEqual({
      audiences: ['vault'],
      expirationSeconds: 3600,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' },
    });
  });

  it('keeps one token per audience and life', async () => {
    const wanted = [source, { ...source, path: 'other' }, { ...source, audience: 'a' }, { ...source, expirationSeconds: 7200 }];
    const got: string[] = [];
    for (const one of wanted) got.push(await tokens.tokenFor(pod, one));
    expect(got).toEqual(['t1', 't1', 't2', 't3']);
  });

  it.each([
    ['four fifths of its life', 3600, 0.8 * HOUR_MS],
    ['a day, when it lives long', 30 * 24 * 3600, 24 * HOUR_MS],
    ['four fifths of the life that the server gave', 3600, 0.4 * HOUR_MS, 1800],
  ])('is renewed after %s', async (_, expirationSeconds, after, grant?: number) => {
    granted = grant;
    await tokens.tokenFor(pod, { ...source, expirationSeconds });
    expect(tokens.nextRenewal).toBe(clock.now() + after);
    await clock.advance(after - 1);
    expect(await tokens.tokenFor(pod, { ...source, expirationSeconds })).toBe('t1');
    await clock.advance(1);
    expect(await tokens.tokenFor(pod, { ...source, expirationSeconds })).toBe('t2');
  });

  it('is renewed up to ten seconds earlier, so that Pods that started together do not ask together', async () => {
    const client = createClient(
      createInMemoryTransport(async ({ body }) => {
        const expirationTimestamp = new Date(clock.now() + HOUR_MS).toISOString();
        return { status: 201, headers: {}, body: { ...(body as Json), status: { token: 't', expirationTimestamp } } };
      }),
    );
    const jittered = new PodTokens({ client, clock, random: () => 0.5 });
    await jittered.tokenFor(pod, source);
    expect(jittered.nextRenewal).toBe(clock.now() + 0.8 * HOUR_MS - 5_000);
  });

  it('stays in use while a renewal fails, until it expires', async () => {
    await tokens.tokenFor(pod, source);
    refuses = true;
    await clock.advance(0.8 * HOUR_MS);
    expect(await tokens.tokenFor(pod, source)).toBe('t1');
    expect(tokens.nextRenewal).toBe(clock.now() + 30_000);
    await clock.advance(0.2 * HOUR_MS + 1);
    await expect(tokens.tokenFor(pod, source)).rejects.toThrow('expired and refresh failed: not today');
    refuses = false;
    expect(await tokens.tokenFor(pod, source)).toMatch(/^t\d$/);
  });

  it('says why there is none', async () => {
    refuses = true;
    await expect(tokens.tokenFor(pod, source)).rejects.toThrow('failed to fetch token: not today');
    expect(tokens.nextRenewal).toBeUndefined();
  });

  it('does not ask all the time when the clock of the server is wrong', async () => {
    granted = 10;
    await tokens.tokenFor(pod, source);
    expect(tokens.nextRenewal).toBe(clock.now() + 30_000);
  });
});
