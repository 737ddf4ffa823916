import { expect, it, vi } from 'vitest';
import type { ApiSuiteContext } from './suite.ts';

export function deletionSuite({ target, path }: ApiSuiteContext): void {
  const create = async (name: string, metadata: object = {}) =>
    (await target().request('POST', path('configmaps'), { metadata: { name, ...metadata } })).body;

  it('delete answers with a Status that names what is gone', async () => {
    const created = await create('gone');
    const { status, body } = await target().request('DELETE', path('configmaps', 'gone'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'gone', kind: 'configmaps', uid: created.metadata.uid },
    });
    expect((await target().request('GET', path('configmaps', 'gone'))).status).toBe(404);
  });

  it('a finalizer holds an object until it is removed', async () => {
    await create('held', { finalizers: ['example.com/hold'] });
    const deleted = await target().request('DELETE', path('configmaps', 'held'));
    expect(deleted.status).toBe(200);
    expect(deleted.body.metadata.deletionTimestamp).toBeTruthy();
    expect(deleted.body.metadata.deletionGracePeriodSeconds).toBe(0);
    expect((await target().request('GET', path('configmaps', 'held'))).status).toBe(200);
    await target().request(
      'PATCH',
      path('configmaps', 'held'),
      { metadata: { finalizers: null } },
      { contentType: 'application/merge-patch+json' },
    );
    expect((await target().request('GET', path('configmaps', 'held'))).status).toBe(404);
  });

  it('a finalizer cannot be added to an object on its way out', async () => {
    await create('closing', { finalizers: ['example.com/hold'] });
    await target().request('DELETE', path('configmaps', 'closing'));
    const { status, body } = await target().request(
      'PATCH',
      path('configmaps', 'closing'),
      { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } },
      { contentType: 'application/merge-patch+json' },
    );
    expect(status).toBe(422);
    expect(body.message).toContain('no new finalizers can be added if the object is being deleted');
    await target().request(
      'PATCH',
      path('configmaps', 'closing'),
      { metadata: { finalizers: null } },
      { contentType: 'application/merge-patch+json' },
    );
  });

  it('a wrong uid precondition is a conflict', async () => {
    await create('guarded');
    const { status, body } = await target().request('DELETE', path('configmaps', 'guarded'), { preconditions: { uid: 'other' } });
    expect(status).toBe(409);
    expect(body.message).toContain('the UID in the precondition (other) does not match the UID in record');
  });

  it('foreground deletion waits for the garbage collector', async () => {
    await create('foreground');
    const { status, body } = await target().request('DELETE', `${path('configmaps', 'foreground')}?propagationPolicy=Foreground`);
    expect(status).toBe(200);
    expect(body.metadata.finalizers).toContain('foregroundDeletion');
  });

  it('an unknown propagation policy is invalid', async () => {
    await create('policy');
    const { status, body } = await target().request('DELETE', `${path('configmaps', 'policy')}?propagationPolicy=Sideways`);
    expect(status).toBe(422);
    expect(body.details.causes[0]).toMatchObject({ reason: 'FieldValueNotSupported', field: 'propagationPolicy' });
  });

  it('a dry run of a delete deletes nothing', async () => {
    await create('kept');
    expect((await target().request('DELETE', `${path('configmaps', 'kept')}?dryRun=All`)).status).toBe(200);
    expect((await target().request('GET', path('configmaps', 'kept'))).status).toBe(200);
  });

  it('deletecollection deletes what the selector selects', async () => {
    await create('c-1', { labels: { collect: 'yes' } });
    await create('c-2', { labels: { collect: 'yes' } });
    await create('c-3', { labels: { collect: 'no' } });
    const { status, body } = await target().request('DELETE', `${path('configmaps')}?labelSelector=collect%3Dyes`);
    expect(status).toBe(200);
    expect(body.kind).toBe('ConfigMapList');
    const left = (await target().request('GET', `${path('configmaps')}?labelSelector=collect`)).body;
    expect(left.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['c-3']);
  });

  it('a definition that is not established can be deleted', async () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const url = `${definitions}/gadgets.deletion.example.com`;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await target().request('POST', definitions, {
      metadata: { name: 'gadgets.deletion.example.com' },
      spec: {
        group: 'deletion.example.com',
        scope: 'Namespaced',
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    const conditions = async () => (await target().request('GET', url)).body.status?.conditions ?? [];
    await vi.waitFor(
      async () => expect(await conditions()).toContainEqual(expect.objectContaining({ type: 'Established', status: 'True' })),
      10_000,
    );
    const forget = [{ op: 'add', path: '/status/conditions', value: [{ message: 'forgotten' }] }];
    const patched = await target().request('PATCH', `${url}/status`, forget, { contentType: 'application/json-patch+json' });
    expect(patched.status).toBe(200);
    expect(await conditions()).toEqual([expect.objectContaining({ message: 'forgotten' })]);
    expect((await target().request('DELETE', url)).status).toBe(200);
    await vi.waitFor(async () => expect((await target().request('GET', url)).status).toBe(404), 10_000);
  });
}
