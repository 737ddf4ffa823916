import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { failure } from '../../../kube/status.ts';
import { FakeClock, settle } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { ReferencedObjects, type Reference } from './referenced-objects.ts';

const settings: Reference = { kind: 'configMap', namespace: 'shop', name: 'settings' };
let api: FakeApi;
let objects: ReferencedObjects;

beforeEach(() => {
  api = new FakeApi();
  const client = createClient(createInMemoryTransport(api.handler), { clock: new FakeClock() });
  objects = new ReferencedObjects({ client, log: silentLog });
});
afterEach(() => objects.stop());

function put(data: Record<string, string>, extra: object = {}): void {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'shop', uid: 'u1' },
    data,
    ...extra,
  };
  api.put(object, 'configmaps');
}

const gets = (): number => api.requests.filter(({ query }) => query?.watch !== 'true').length;

describe('ReferencedObjects', () => {
  it('reads directly what nobody holds, and watches nothing', async () => {
    put({ a: '1' });
    expect((await objects.read(settings))?.data).toEqual({ a: '1' });
    expect(objects.watched).toBe(0);
    expect(await objects.read({ ...settings, name: 'absent' })).toBeUndefined();
  });

  it('watches by name what is held, tells of changes, and answers from what it has', async () => {
    put({ a: '1' });
    let told = 0;
    const release = objects.hold(settings, () => told++);
    await settle();
    expect(told).toBe(1);
    expect(api.requests[0].query).toMatchObject({ fieldSelector: 'metadata.name=settings', watch: 'true' });
    put({ a: '2' });
    await settle();
    expect(told).toBe(2);
    expect((await objects.read(settings))?.data).toEqual({ a: '2' });
    expect(gets()).toBe(0);
    release();
    put({ a: '3' });
    await settle();
    expect(told).toBe(2);
  });

  it('shares a watch among all who hold the object', async () => {
    put({ a: '1' });
    const releases = [1, 2, 3].map(() => objects.hold(settings, () => {}));
    await settle();
    expect(api.requests).toHaveLength(1);
    releases[0]();
    releases[0]();
    releases[1]();
    expect(objects.watched).toBe(1);
    releases[2]();
    expect(objects.watched).toBe(0);
  });

  it('does not believe that an object is absent before it has asked', async () => {
    objects.hold(settings, () => {});
    await settle();
    expect(await objects.read(settings)).toBeUndefined();
    expect(gets()).toBe(1);
  });

  it('asks once for those who read together', async () => {
    put({ a: '1' });
    await Promise.all([objects.read(settings), objects.read(settings), objects.read(settings)]);
    expect(gets()).toBe(1);
    await objects.read(settings);
    expect(gets()).toBe(2);
  });

  it('stops watching an immutable object but keeps it', async () => {
    put({ a: '1' }, { immutable: true });
    objects.hold(settings, () => {});
    await settle();
    expect((await objects.read(settings))?.data).toEqual({ a: '1' });
    expect(gets()).toBe(0);
  });

  it('passes on refusals', async () => {
    api.intercept = () => {
      throw failure('Forbidden', 'not yours');
    };
    await expect(objects.read(settings)).rejects.toThrow('not yours');
  });
});
