import { describe, expect, it } from 'vitest';
import type { Resource } from '../registry/resource.ts';
import { OpenApi, type PublishedKind } from './openapi.ts';

const PATH = '/openapi/v3/apis/example.com/v1';
const REQUEST = { headers: {} };

function published(description: string): PublishedKind {
  const resource = {
    group: 'example.com',
    version: 'v1',
    kind: 'Widget',
    listKind: 'WidgetList',
    resource: 'widgets',
    namespaced: true,
    verbs: ['get'],
    subresources: [],
  } as unknown as Resource;
  return {
    resource,
    definition: 'com.example.v1.Widget',
    *schemas() {
      yield;
      return { 'com.example.v1.Widget': { type: 'object', description } };
    },
  };
}

describe('OpenApi', () => {
  it('does not keep a document of definitions that changed while it was made', async () => {
    let generation = 1;
    let description = 'old';
    const openApi = new OpenApi({
      generation: () => generation,
      custom: () => [published(description)],
      foreign: () => [],
      foreignDefinitions: () => [],
    });
    const text = async () => {
      const body = (await openApi.answer(PATH, REQUEST))!.body;
      return body.kind === 'raw' ? Buffer.from(body.bytes).toString() : '';
    };
    const made = text();
    [generation, description] = [2, 'new'];
    await openApi.answer('/openapi/v3', REQUEST);
    expect(await made).toContain('"old"');
    expect(await text()).toContain('"new"');
  });

  it('writes the paths and the definitions of a custom kind into the recorded document', async () => {
    const openApi = new OpenApi({
      generation: () => 1,
      custom: () => [published('mine')],
      foreign: () => [],
      foreignDefinitions: () => [],
    });
    const { body } = (await openApi.answer('/openapi/v2', REQUEST))!;
    const document = JSON.parse(Buffer.from(body.kind === 'raw' ? body.bytes : []).toString());
    expect(document.definitions['com.example.v1.Widget']).toEqual({ type: 'object', description: 'mine' });
    expect(document.definitions['io.k8s.api.core.v1.Pod']).toBeDefined();
    expect(Object.keys(document.paths)).toContain('/apis/example.com/v1/namespaces/{namespace}/widgets/{name}');
    expect(Object.keys(document.paths)).toContain('/api/v1/pods');
  });
});
