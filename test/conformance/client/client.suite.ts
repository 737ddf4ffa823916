import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { ConfigMap, CustomResourceDefinition, Deployment, Namespace, ServiceAccount } from '../../../src/client/kinds.ts';
import type { ResourceClient } from '../../../src/client/resource-client.ts';
import type { WatchUpdate } from '../../../src/client/watch.ts';
import type { KubeObject } from '../../../src/kube/object.ts';

/** What a program sees of an API server through the client, the same over every transport. */
export function clientSuite(name: string, connect: () => Promise<{ client: Client; warnings: string[] }>): void {
  describe(`client over ${name}`, () => {
    const namespace = `client-${name.replaceAll(/[^a-z0-9]/g, '-')}`;
    let client: Client;
    let warnings: string[];
    let maps: ResourceClient;
    beforeAll(async () => {
      ({ client, warnings } = await connect());
      await client.resource(Namespace).create({ metadata: { name: namespace } });
      maps = client.resource(ConfigMap, namespace);
    });

    test('objects are created, read, replaced and deleted', async () => {
      const created = await maps.create({ metadata: { name: 'crud' }, data: { a: '1' } });
      expect(created).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { uid: expect.any(String), namespace } });
      const updated = await maps.update({ ...created, data: { a: '2' } });
      expect(updated.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
      await expect(maps.update({ ...created, data: { a: '3' } })).rejects.toMatchObject({ reason: 'Conflict', code: 409 });
      expect(await maps.get('crud')).toMatchObject({ data: { a: '2' } });
      await expect(maps.delete('crud', { preconditions: { uid: 'other' } })).rejects.toMatchObject({ reason: 'Conflict' });
      await maps.delete('crud');
      await expect(maps.get('crud')).rejects.toMatchObject({ reason: 'NotFound', message: 'configmaps "crud" not found' });
    });

    test('dry-run changes nothing, and unknown fields are refused or warned about as asked', async () => {
      await maps.create({ metadata: { name: 'dry' } }, { dryRun: true });
      await expect(maps.get('dry')).rejects.toMatchObject({ reason: 'NotFound' });
      const odd = { metadata: { name: 'odd' }, dta: { a: 'b' } };
      await expect(maps.create(odd, { fieldValidation: 'Strict' })).rejects.toMatchObject({ code: 400 });
      await maps.create(odd, { fieldValidation: 'Warn' });
      expect(warnings).toContain('unknown field "dta"');
    });

    test('the four patches work', async () => {
      await maps.create({ metadata: { name: 'patched' }, data: { a: '1', b: '2' } });
      await maps.patch('patched', { type: 'merge', patch: { data: { a: null, c: '3' } } });
      await maps.patch('patched', { type: 'json', patch: [{ op: 'replace', path: '/data/b', value: '20' }] });
      await maps.patch('patched', { type: 'strategic', patch: { metadata: { labels: { x: 'y' } } } });
      const applied = await maps.apply({ metadata: { name: 'patched' }, data: { d: '4' } }, { fieldManager: 'suite' });
      expect(applied).toMatchObject({ metadata: { labels: { x: 'y' } }, data: { b: '20', c: '3', d: '4' } });
      const conflict = maps.apply({ metadata: { name: 'patched' }, data: { d: '5' } }, { fieldManager: 'other' });
      await expect(conflict).rejects.toMatchObject({ reason: 'Conflict' });
      const forced = await maps.apply({ metadata: { name: 'patched' }, data: { d: '5' } }, { fieldManager: 'other', force: true });
      expect(forced.data.d).toBe('5');
    });

    test('lists come in pages, by selector, and as metadata alone', async () => {
      for (let i = 0; i < 7; i++)
        await maps.create({ metadata: { name: `page-${i}`, labels: { page: String(i % 2) } }, data: { i: String(i) } });
      const names: string[] = [];
      for await (const item of maps.items({ limit: 2, labelSelector: 'page' })) names.push(item.metadata.name!);
      expect(names).toEqual(Array.from({ length: 7 }, (_, i) => `page-${i}`));
      expect((await maps.listAll({ limit: 3, labelSelector: { page: '1' } })).items).toHaveLength(3);
      const [first] = (await client.metadata(ConfigMap, namespace).list({ limit: 1, labelSelector: 'page' })).items;
      expect(first.metadata.name).toBe('page-0');
      expect(first.data).toBeUndefined();
      await maps.deleteCollection({ labelSelector: 'page=0' });
      expect((await maps.list({ labelSelector: 'page' })).items).toHaveLength(3);
    });

    test('subresources are read and written', async () => {
      const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
      const deployments = client.resource(Deployment, namespace);
      await deployments.create({ metadata: { name: 'scaled' }, spec: { replicas: 1, selector: { matchLabels: { app: 'a' } }, template } });
      const scale = deployments.subresource<KubeObject>('scale');
      expect((await scale.get('scaled')).spec).toEqual({ replicas: 1 });
      await scale.patch('scaled', { type: 'merge', patch: { spec: { replicas: 3 } } });
      expect((await deployments.get('scaled')).spec?.replicas).toBe(3);
      await deployments.status.patch('scaled', { type: 'merge', patch: { status: { replicas: 2 } } });
      expect((await deployments.get('scaled')).status?.replicas).toBe(2);
      await client.resource(ServiceAccount, namespace).create({ metadata: { name: 'robot' } });
      const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: { audiences: [] } };
      const token = await client.resource(ServiceAccount, namespace).subresource<KubeObject>('token').create('robot', request);
      expect(token.status.token.split('.')).toHaveLength(3);
    });

    test('a watch gives the present state, says when that is complete, and then each change', async () => {
      const stop = new AbortController();
      const updates = maps.watch({ sendInitialEvents: true, labelSelector: 'watched', signal: stop.signal });
      await maps.create({ metadata: { name: 'w-0', labels: { watched: '' } } });
      const next = async (): Promise<WatchUpdate> => (await updates.next()).value as WatchUpdate;
      const seen: string[] = [];
      const read = async (): Promise<void> => {
        const update = await next();
        seen.push('object' in update ? `${update.type} ${update.object.metadata.name}` : update.type);
      };
      await read();
      await read();
      await maps.create({ metadata: { name: 'w-1', labels: { watched: '' } } });
      await maps.patch('w-1', { type: 'merge', patch: { metadata: { labels: { watched: null } } } });
      await read();
      await read();
      expect(seen).toEqual(['ADDED w-0', 'SYNCED', 'ADDED w-1', 'DELETED w-1']);
      stop.abort();
      expect((await updates.next()).done).toBe(true);
    });

    test('a watch from a version gives what happened since, once and in order', async () => {
      const { resourceVersion } = (await maps.list({ limit: 1 })).metadata;
      for (let i = 0; i < 50; i++) await maps.create({ metadata: { name: `since-${i}` } });
      const stop = new AbortController();
      const seen: string[] = [];
      for await (const update of maps.watch({ resourceVersion, signal: stop.signal })) {
        if (update.type === 'ADDED') seen.push(update.object.metadata.name!);
        if (seen.length === 50) break;
      }
      expect(seen).toEqual(Array.from({ length: 50 }, (_, i) => `since-${i}`));
    });

    test('discovery finds resources and kinds, custom ones included', async () => {
      const { resources, failed } = await client.discovery.preferredResources();
      expect(failed).toEqual([]);
      const pods = resources.find(({ group, plural }) => group === '' && plural === 'pods');
      expect(pods).toMatchObject({ version: 'v1', kind: 'Pod', namespaced: true, singular: 'pod', shortNames: ['po'] });
      expect(pods?.subresources).toEqual(expect.arrayContaining(['status', 'eviction', 'binding']));
      expect(await client.discovery.forKind('apps/v1', 'Deployment')).toMatchObject({ plural: 'deployments', namespaced: true });
      expect(await client.discovery.forKind('apps/v1', 'Nothing')).toBeUndefined();
      expect(await client.discovery.forKind('nowhere.io/v1', 'Nothing')).toBeUndefined();
    });

    test('answers may be shared: what a caller does to them reaches nobody', async () => {
      const created = await maps.create({ metadata: { name: 'shared' }, data: { a: '1' } });
      try {
        created.data.a = 'changed';
      } catch {
        // Frozen: just as well.
      }
      expect((await maps.get('shared')).data.a).toBe('1');
    });

    test('refusals tell code, reason and causes', async () => {
      await expect(maps.create({ metadata: { name: 'Bad_Name' } })).rejects.toMatchObject({
        code: 422,
        reason: 'Invalid',
        status: { details: { kind: 'ConfigMap', causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] } },
      });
      await expect(maps.create({ metadata: { name: 'shared' } })).rejects.toMatchObject({ reason: 'AlreadyExists' });
      await expect(maps.list({ labelSelector: '!!' })).rejects.toMatchObject({ reason: 'BadRequest' });
      const unknown = { group: 'nowhere.io', version: 'v1', kind: 'X', plural: 'xs', namespaced: true };
      await expect(client.resource(unknown, namespace).list()).rejects.toMatchObject({ code: 404 });
      await expect(client.resource(CustomResourceDefinition).create({ metadata: { name: 'x' } })).rejects.toMatchObject({ code: 422 });
    });
  });
}
