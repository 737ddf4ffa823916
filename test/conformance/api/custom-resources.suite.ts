import { beforeAll, expect, it, vi } from 'vitest';
import type { ApiSuiteContext } from './suite.ts';

const GROUP = 'conformance.example.com';
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } },
      },
    ],
  },
};

/** Where custom resources differ from built-in ones on the wire. */
export function customResourcesSuite({ target, namespace, path }: ApiSuiteContext): void {
  const things = `/apis/${GROUP}/v1/namespaces/${namespace}/things`;
  const thing = (name: string) => ({ apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name }, size: 1 });

  beforeAll(async () => {
    await target().request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', DEFINITION);
    await vi.waitFor(async () => expect((await target().request('GET', things)).status).toBe(200), { timeout: 30_000, interval: 100 });
  }, 60_000);

  it('a create at the address of the object is a create', async () => {
    const { status, body } = await target().request('POST', `${things}/one`, thing('one'));
    expect([status, body.metadata.name, body.size]).toEqual([201, 'one', 1]);
    const again = await target().request('POST', `${things}/one`, thing('one'));
    expect([again.status, again.body.reason]).toEqual([409, 'AlreadyExists']);
  });

  it('the body names the object, whatever the address says', async () => {
    const { status, body } = await target().request('POST', `${things}/elsewhere`, thing('here'));
    expect([status, body.metadata.name]).toEqual([201, 'here']);
    expect((await target().request('GET', `${things}/elsewhere`)).status).toBe(404);
    const nameless = await target().request('POST', `${things}/nameless`, { ...thing('x'), metadata: {} });
    expect([nameless.status, nameless.body.message]).toEqual([
      422,
      `Thing.${GROUP} "" is invalid: metadata.name: Required value: name or generateName is required`,
    ]);
  });

  it('built-in resources are created in their collection only', async () => {
    const { status } = await target().request('POST', path('configmaps', 'named'), { metadata: { name: 'named' } });
    expect(status).toBe(405);
  });
}
