import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import type { Entry, StoreEvent } from '../../store/store.ts';
import { wholePresenter } from '../encoding/presenter.ts';
import { ObjectCache } from '../registry/object-cache.ts';
import type { Resource } from '../registry/resource.ts';
import { lineRenderer } from './frames.ts';

const resource = { group: 'example.com', version: 'v1', kind: 'Walk', listKind: 'WalkList' } as Resource;

function anEntry(revision: number, object: KubeObject): Entry {
  const bytes = Buffer.from(JSON.stringify(object));
  return { key: 'example.com/walks/default/a', bytes, revision, createdRevision: 1, attachment: undefined };
}

function aWalk(revision: number, phase: string): KubeObject {
  const annotations = { note: 'was "resourceVersion":"5" once' };
  const metadata = { name: 'a', namespace: 'default', resourceVersion: String(revision), annotations };
  return { apiVersion: 'example.com/v1', kind: 'Walk', metadata, status: { phase } };
}

describe('lineRenderer', () => {
  const filter = {
    keyPrefix: 'example.com/walks/',
    exact: false,
    identity: 'walking',
    selective: true,
    matches: ({ revision }: Entry) => revision < 7,
  };

  it.each([
    { name: 'stored bytes', served: resource },
    { name: 'another version than the stored one', served: { ...resource, fromStorage: (object: KubeObject) => object } as Resource },
  ])('tells an object that leaves the selection in its last state, at the revision that hid it: $name', async ({ served }) => {
    const renderer = lineRenderer(wholePresenter(served, new ObjectCache(10_000)));
    const event: StoreEvent = { type: 'put', revision: 7, entry: anEntry(7, aWalk(7, 'Over')), previous: anEntry(5, aWalk(5, 'Walking')) };
    const line = await renderer.events([event], filter);
    const object = aWalk(5, 'Walking');
    object.metadata.resourceVersion = '7';
    expect(JSON.parse(Buffer.from(line!).toString())).toEqual({ type: 'DELETED', object });
  });
});
