import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/engine/store/memory-store.ts';
import { startServerInMemory, type InMemoryServer } from './server-in-memory.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'stable.example.com';

function version(name: string, storage: boolean, more: object = {}) {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { colour: { type: 'string' }, size: { type: 'string' } } } },
    },
  };
  return { name, served: true, storage, schema, ...more };
}

function definition(plural: string, kind: string, versions: object[]) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: { group: GROUP, scope: 'Namespaced', names: { plural, kind }, versions },
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise(setImmediate);
}

async function establish(server: InMemoryServer, body: object): Promise<void> {
  expect((await server.call('POST', DEFINITIONS, body)).status).toBe(201);
  await settled();
}

async function changeDefinition(server: InMemoryServer, name: string, change: (spec: { versions: object[] }) => void): Promise<void> {
  const body = structuredClone((await server.call('GET', `${DEFINITIONS}/${name}`)).body);
  change(body.spec);
  const answer = await server.call('PUT', `${DEFINITIONS}/${name}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await settled();
}

const widget = (versionName: string, name: string, spec: object) => ({
  apiVersion: `${GROUP}/${versionName}`,
  kind: 'Widget',
  metadata: { name },
  spec,
});
const path = (versionName: string) => `/apis/${GROUP}/${versionName}/namespaces/default/widgets`;

describe('definitions', () => {
  it('one that was never established, goes, when it is deleted', async () => {
    const server = await startServerInMemory();
    await establish(server, definition('widgets', 'Widget', [version('v1', true)]));
    await establish(server, definition('gadgets', 'Widget', [version('v1', true)]));
    const refused = await server.call('GET', `${DEFINITIONS}/gadgets.${GROUP}`);
    expect(refused.body.status.conditions).toContainEqual(expect.objectContaining({ type: 'Established', status: 'False' }));
    await server.call('DELETE', `${DEFINITIONS}/gadgets.${GROUP}`);
    await settled();
    expect((await server.call('GET', `${DEFINITIONS}/gadgets.${GROUP}`)).status).toBe(404);
    server.close();
  });

  it('one whose objects an admission plugin would protect, goes with them, when it is deleted', async () => {
    const server = await startServerInMemory({
      around: {
        validate: (request) => {
          if (request.operation === 'DELETE' && request.resource.resource === 'widgets') throw new Error('refused');
        },
      },
    });
    await establish(server, definition('widgets', 'Widget', [version('v1', true)]));
    await server.call('POST', path('v1'), widget('v1', 'a', {}));
    await server.call('DELETE', `${DEFINITIONS}/widgets.${GROUP}`);
    await settled();
    expect((await server.call('GET', `${DEFINITIONS}/widgets.${GROUP}`)).status).toBe(404);
    expect(server.store.count(`${GROUP}/widgets/`)).toBe(0);
    server.close();
  });

  it('one that was being deleted, goes with its objects, after a restart', async () => {
    const before = await startServerInMemory();
    await establish(before, definition('widgets', 'Widget', [version('v1', true)]));
    await before.call('POST', path('v1'), widget('v1', 'a', {}));
    const store = createMemoryStore();
    for (const { key, bytes } of before.store.range('').entries) {
      const object = JSON.parse(Buffer.from(bytes).toString());
      if (object.kind === 'CustomResourceDefinition') {
        object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
        object.metadata.finalizers = ['customresourcecleanup.apiextensions.k8s.io'];
      }
      await store.put(key, 0, () => ({ bytes: Buffer.from(JSON.stringify(object)) }));
    }
    before.close();
    const after = await startServerInMemory({ store, namespaces: [] });
    await settled();
    expect((await after.call('GET', `${DEFINITIONS}/widgets.${GROUP}`)).status).toBe(404);
    expect(store.count(`${GROUP}/widgets/`)).toBe(0);
    after.close();
  });

  it('a new version, is served, although a name that it also asks for is taken', async () => {
    const server = await startServerInMemory();
    await establish(server, definition('gadgets', 'Gadget', [version('v1', true)]));
    await establish(server, definition('widgets', 'Widget', [version('v1', true)]));
    await changeDefinition(server, `widgets.${GROUP}`, (spec) => {
      Object.assign(spec, { names: { plural: 'widgets', kind: 'Widget', shortNames: ['gadgets'] } });
      spec.versions = [version('v1', true), version('v2', false)];
    });
    expect((await server.call('GET', path('v2'))).status).toBe(200);
    server.close();
  });

  it('names that another gives up, are served, without a change of the spec', async () => {
    const server = await startServerInMemory();
    const first = definition('widgets', 'Widget', [version('v1', true)]);
    await establish(server, { ...first, spec: { ...first.spec, names: { ...first.spec.names, shortNames: ['w'] } } });
    const second = definition('wheels', 'Wheel', [version('v1', true)]);
    await establish(server, second);
    await changeDefinition(server, `wheels.${GROUP}`, (spec) =>
      Object.assign(spec, { names: { plural: 'wheels', kind: 'Wheel', shortNames: ['w'] } }),
    );
    await server.call('DELETE', `${DEFINITIONS}/widgets.${GROUP}`);
    await settled();
    const { body } = await server.call('GET', `/apis/${GROUP}/v1`);
    const found = (typeof body === 'string' ? JSON.parse(body) : body).resources.find(({ name }: { name: string }) => name === 'wheels');
    expect(found.shortNames).toEqual(['w']);
    server.close();
  });
});

describe('objects of a definition that changed', () => {
  it('an object stored in the former storage version, has the version that is asked for, when it is read', async () => {
    const server = await startServerInMemory();
    await establish(server, definition('widgets', 'Widget', [version('v1', true), version('v2', false)]));
    await server.call('POST', path('v1'), widget('v1', 'a', { colour: 'red' }));
    await changeDefinition(server, `widgets.${GROUP}`, (spec) => {
      spec.versions = [version('v1', false), version('v2', true)];
    });
    for (const versionName of ['v1', 'v2']) {
      const one = await server.call('GET', `${path(versionName)}/a`);
      expect(one.body.apiVersion).toBe(`${GROUP}/${versionName}`);
      const list = await server.call('GET', path(versionName));
      expect(list.body.items[0].apiVersion).toBe(`${GROUP}/${versionName}`);
    }
    const patched = await server.call('PATCH', `${path('v2')}/a`, { spec: { size: 'l' } }, 'application/merge-patch+json');
    expect(patched.body).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: { colour: 'red', size: 'l' } });
    server.close();
  });

  it('a field selector that a change added, finds them, although others were asked for before', async () => {
    const server = await startServerInMemory();
    const selectable = (...paths: string[]) => ({ selectableFields: paths.map((jsonPath) => ({ jsonPath })) });
    await establish(server, definition('widgets', 'Widget', [version('v1', true, selectable('.spec.colour'))]));
    await server.call('POST', path('v1'), widget('v1', 'a', { colour: 'red', size: 'l' }));
    expect((await server.call('GET', `${path('v1')}?fieldSelector=spec.colour%3Dred`)).body.items).toHaveLength(1);
    await changeDefinition(server, `widgets.${GROUP}`, (spec) => {
      spec.versions = [version('v1', true, selectable('.spec.colour', '.spec.size'))];
    });
    expect((await server.call('GET', `${path('v1')}?fieldSelector=spec.size%3Dl`)).body.items).toHaveLength(1);
    server.close();
  });
});
