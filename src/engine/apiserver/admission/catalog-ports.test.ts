import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { Catalog } from '../registry/catalog.ts';
import type { Resource } from '../registry/resource.ts';
import { catalogDecode, catalogEquivalents, catalogResourceOfKind } from './catalog-ports.ts';
import { aRequest } from './testing/a-request.ts';

const widget: KubeObject = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1 } };

function aResource(version: string, extra: Partial<Resource> = {}): Resource {
  return {
    group: 'example.com',
    version,
    kind: 'Widget',
    resource: 'widgets',
    namespaced: true,
    storage: { group: 'example.com', resource: 'widgets', version: 'v1' },
    subresources: [{ name: 'scale', verbs: ['get'], kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } }],
    strategy: { decode: (object: KubeObject) => ({ ...object, decoded: true }) } as unknown as Resource['strategy'],
    ...extra,
  } as Resource;
}

function catalog(): Catalog {
  const made = new Catalog();
  const v2 = aResource('v2', {
    toStorage: (object) => ({ ...object, apiVersion: 'example.com/v1' }),
    fromStorage: (object) => ({ ...object, apiVersion: 'example.com/v2' }),
  });
  made.register([
    aResource('v1'),
    v2,
    aResource('v1', { resource: 'others', kind: 'Other', storage: { group: 'example.com', resource: 'others', version: 'v1' } }),
  ]);
  return made;
}

describe('catalogEquivalents', () => {
  const equivalents = catalogEquivalents(catalog());
  const v1 = { group: 'example.com', version: 'v1', resource: 'widgets' };

  it('are the versions of the same objects', () => {
    expect(equivalents.resourcesFor(v1, '').map(({ kind }) => `${kind.version}/${kind.kind}`)).toEqual(['v1/Widget', 'v2/Widget']);
    expect(equivalents.resourcesFor(v1, 'scale')[1].kind).toEqual({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
    expect(equivalents.resourcesFor({ ...v1, resource: 'gone' }, '')).toEqual([]);
  });

  it('convert both ways', () => {
    const newer = equivalents.convert(widget, { group: 'example.com', version: 'v2', kind: 'Widget' }) as KubeObject;
    expect(newer.apiVersion).toBe('example.com/v2');
    expect(equivalents.convert(newer, { group: 'example.com', version: 'v1', kind: 'Widget' })).toEqual(widget);
  });
});

describe('catalogDecode', () => {
  it('decodes objects of the resource and leaves bodies of subresources alone', () => {
    const decode = catalogDecode(catalog());
    expect(decode(aRequest('widgets', widget), widget).decoded).toBe(true);
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'w' } };
    const request = aRequest('widgets', scale, {
      resource: { group: 'example.com', version: 'v1', resource: 'widgets' },
      subresource: 'scale',
    });
    expect(decode(request, scale)).toBe(scale);
  });
});

describe('catalogResourceOfKind', () => {
  it('finds the resource of a kind', () => {
    const find = catalogResourceOfKind(catalog());
    expect(find('example.com/v1', 'Widget')).toEqual({ group: 'example.com', resource: 'widgets', namespaced: true });
    expect(find('example.com/v9', 'Widget')).toBeUndefined();
  });
});
