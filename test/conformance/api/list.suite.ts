import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/kube/object.ts';
import type { ApiSuiteContext } from './suite.ts';

export function listSuite({ target, namespace, path }: ApiSuiteContext): void {
  beforeAll(async () => {
    for (let i = 0; i < 10; i++) {
      await target().request('POST', path('configmaps'), {
        metadata: { name: `item-${i}`, labels: { parity: i % 2 === 0 ? 'even' : 'odd', index: String(i), suite: 'list' } },
        data: { i: String(i) },
      });
    }
  });
  const names = (list: Json): string[] =>
    list.items.map((item: Json) => item.metadata.name).filter((name: string) => name.startsWith('item-'));
  const list = async (query: string) => (await target().request('GET', `${path('configmaps')}?${query}`)).body;

  it('list answers with a typed list at a resourceVersion, in the order of names', async () => {
    const { status, body } = await target().request('GET', path('configmaps'));
    expect(status).toBe(200);
    expect(body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: expect.stringMatching(/^\d+$/) } });
    expect(names(body)).toEqual(Array.from({ length: 10 }, (_, i) => `item-${i}`));
  });

  describe('label selectors', () => {
    const cases: [string, string[]][] = [
      ['parity=even', ['0', '2', '4', '6', '8']],
      ['parity==odd,index!=3', ['1', '5', '7', '9']],
      ['index in (1,2,42)', ['1', '2']],
      ['suite,index notin (0,1,2,3,4,5,6,7)', ['8', '9']],
      ['suite=list,!parity', []],
    ];
    it.each(cases)('%s', async (selector, expected) => {
      expect(names(await list(`labelSelector=${encodeURIComponent(selector)}`))).toEqual(expected.map((i) => `item-${i}`));
    });
  });

  it('field selectors narrow by name and namespace', async () => {
    expect(names(await list('fieldSelector=metadata.name%3Ditem-3'))).toEqual(['item-3']);
    expect(names(await list('labelSelector=suite%3Dlist&fieldSelector=metadata.name!%3Ditem-3'))).toHaveLength(9);
    const everywhere = (
      await target().request('GET', `/api/v1/configmaps?labelSelector=suite%3Dlist&fieldSelector=metadata.namespace%3D${namespace}`)
    ).body;
    expect(everywhere.items).toHaveLength(10);
  });

  it('a field selector that the kind does not support is a bad request', async () => {
    const { status, body } = await target().request('GET', `${path('configmaps')}?fieldSelector=data.i%3D3`);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      reason: 'BadRequest',
      message: '"data.i" is not a known field selector: only "metadata.name", "metadata.namespace"',
    });
  });

  it('an invalid label selector is a bad request', async () => {
    const { status, body } = await target().request('GET', `${path('configmaps')}?labelSelector=${encodeURIComponent('a in b')}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ reason: 'BadRequest', message: expect.stringContaining('unable to parse requirement') });
  });

  it('limit gives chunks that add up to one consistent list', async () => {
    const first = await list('labelSelector=suite%3Dlist&limit=4');
    expect(names(first)).toHaveLength(4);
    expect(first.metadata.continue).toBeTruthy();
    await target().request('POST', path('configmaps'), { metadata: { name: 'item-95', labels: { suite: 'list' } } });
    const second = await list(`labelSelector=suite%3Dlist&limit=4&continue=${encodeURIComponent(first.metadata.continue)}`);
    const third = await list(`labelSelector=suite%3Dlist&limit=4&continue=${encodeURIComponent(second.metadata.continue)}`);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect([...names(first), ...names(second), ...names(third)]).toEqual(Array.from({ length: 10 }, (_, i) => `item-${i}`));
    expect(third.metadata.continue ?? '').toBe('');
    await target().request('DELETE', path('configmaps', 'item-95'));
  });

  it('chunks without a selector say how many remain', async () => {
    const all = await list('');
    const first = await list('limit=3');
    expect(first.metadata.remainingItemCount).toBe(all.items.length - 3);
  });

  it('a garbled continue token is a bad request', async () => {
    const { status, body } = await target().request('GET', `${path('configmaps')}?limit=2&continue=garbage`);
    expect(status).toBe(400);
    expect(body.message).toMatch(/continue key is not valid/);
  });

  it('a resourceVersion from the future is a timeout with its cause', async () => {
    const { status, body } = await target().request(
      'GET',
      `${path('configmaps')}?resourceVersion=99999999999&resourceVersionMatch=NotOlderThan`,
    );
    expect(status).toBe(504);
    expect(body).toMatchObject({ reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } });
  });

  it('resourceVersionMatch without resourceVersion is invalid', async () => {
    const { status, body } = await target().request('GET', `${path('configmaps')}?resourceVersionMatch=Exact`);
    expect(status).toBe(422);
    expect(body.details.causes[0]).toMatchObject({ reason: 'FieldValueForbidden', field: 'resourceVersionMatch' });
  });

  it('Table output has the columns of kubectl and the metadata of each row', async () => {
    const { body } = await target().request('GET', `${path('configmaps')}?labelSelector=index%3D3`, undefined, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    expect(body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    expect(body.columnDefinitions.map((column: Json) => column.name)).toEqual(['Name', 'Data', 'Age']);
    expect(body.rows).toHaveLength(1);
    expect(body.rows[0].cells.slice(0, 2)).toEqual(['item-3', 1]);
    expect(body.rows[0].object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'item-3' } });
  });

  it('PartialObjectMetadata output has metadata and nothing else', async () => {
    const { body } = await target().request('GET', `${path('configmaps')}?labelSelector=index%3D3`, undefined, {
      headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
    });
    expect(body.kind).toBe('PartialObjectMetadataList');
    expect(body.items[0].metadata.name).toBe('item-3');
    expect(body.items[0].data).toBeUndefined();
  });

  it('a media type that nobody speaks is not acceptable', async () => {
    const { status, body } = await target().request('GET', path('configmaps'), undefined, { headers: { accept: 'text/csv' } });
    expect(status).toBe(406);
    expect(body.reason).toBe('NotAcceptable');
  });
}
