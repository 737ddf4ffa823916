import { expect, it } from 'vitest';
import type { ApiSuiteContext } from './suite.ts';

export function watchSuite({ target, path }: ApiSuiteContext): void {
  const create = async (name: string, labels: Record<string, string> = {}) =>
    (await target().request('POST', path('configmaps'), { metadata: { name, labels } })).body;
  const current = async () => (await target().request('GET', `${path('configmaps')}?limit=1`)).body.metadata.resourceVersion;

  it('a watch from a resourceVersion tells what comes after it, in order', async () => {
    const from = await current();
    const stream = await target().watch(`${path('configmaps')}?watch=1&resourceVersion=${from}&fieldSelector=metadata.name%3Dordered`);
    const created = await create('ordered');
    await target().request('PUT', path('configmaps', 'ordered'), { ...created, data: { a: '1' } });
    await target().request('DELETE', path('configmaps', 'ordered'));
    const events = [await stream.next(), await stream.next(), await stream.next()];
    stream.stop();
    expect(events.map((event) => event?.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    expect(events[1]?.object.data).toEqual({ a: '1' });
    const revisions = events.map((event) => Number(event?.object.metadata.resourceVersion));
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
  });

  it('a watch without resourceVersion begins with what is there', async () => {
    await create('present', { watch: 'initial' });
    const stream = await target().watch(`${path('configmaps')}?watch=1&labelSelector=watch%3Dinitial`);
    expect(await stream.next()).toMatchObject({ type: 'ADDED', object: { kind: 'ConfigMap', metadata: { name: 'present' } } });
    await create('later', { watch: 'initial' });
    expect(await stream.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'later' } } });
    stream.stop();
  });

  it('sendInitialEvents ends the initial state with an annotated bookmark', async () => {
    await create('listed', { watch: 'list' });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=watch%3Dlist';
    const stream = await target().watch(`${path('configmaps')}?${query}`);
    expect(await stream.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'listed' } } });
    expect(await stream.next()).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
    stream.stop();
  });

  it('sendInitialEvents without resourceVersionMatch is invalid', async () => {
    const { status, body } = await target().request('GET', `${path('configmaps')}?watch=1&sendInitialEvents=true`);
    expect(status).toBe(422);
    expect(body.message).toContain('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  });

  it('an object that leaves the selection is told as deleted, one that enters it as added', async () => {
    const created = await create('moving', { state: 'in' });
    const from = created.metadata.resourceVersion;
    const stream = await target().watch(`${path('configmaps')}?watch=1&resourceVersion=${from}&labelSelector=state%3Din`);
    const patch = (state: string) =>
      target().request(
        'PATCH',
        path('configmaps', 'moving'),
        { metadata: { labels: { state } } },
        { contentType: 'application/merge-patch+json' },
      );
    await patch('out');
    await patch('in');
    expect(await stream.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'moving' } } });
    expect(await stream.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'moving' } } });
    stream.stop();
  });

  it('a watch ends after timeoutSeconds', async () => {
    const stream = await target().watch(`${path('configmaps')}?watch=1&timeoutSeconds=1&resourceVersion=${await current()}`);
    expect(stream.status).toBe(200);
    expect(await stream.next(10_000)).toBeUndefined();
  });

  it('a watch with Table output carries a Table per event', async () => {
    const stream = await target().watch(`${path('configmaps')}?watch=1&fieldSelector=metadata.name%3Dpresent`, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    const event = await stream.next();
    expect(event).toMatchObject({ type: 'ADDED', object: { kind: 'Table', rows: [{ object: { metadata: { name: 'present' } } }] } });
    stream.stop();
  });
}
