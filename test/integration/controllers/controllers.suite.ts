import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import {
  ClusterRole,
  ConfigMap,
  CustomResourceDefinition,
  Namespace,
  Pod,
  ResourceQuota,
  Secret,
  ServiceAccount,
} from '../../../src/client/kinds.ts';
import type { ResourceClient } from '../../../src/client/resource-client.ts';
import type { KubeObject, OwnerReference } from '../../../src/kube/object.ts';
import { isStatusError } from '../../../src/kube/status.ts';
import { ownerReference } from '../../../src/kube/ownership.ts';

const WAIT = { timeout: 5000, interval: 20 };

async function exists(resource: ResourceClient, name: string): Promise<boolean> {
  try {
    await resource.get(name);
    return true;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return false;
    throw error;
  }
}

const gone = (resource: ResourceClient, name: string): Promise<void> =>
  vi.waitFor(async () => expect(await exists(resource, name)).toBe(false), WAIT);

/** What the built-in controllers do, on any API server that none other serves. `connect` starts them. */
export function controllersSuite(name: string, connect: () => Promise<{ client: Client }>): void {
  describe(`controllers on ${name}`, () => {
    let client: Client;
    beforeAll(async () => {
      ({ client } = await connect());
    });

    async function makeNamespace(name: string): Promise<string> {
      await client.resource(Namespace).create({ metadata: { name } });
      return name;
    }

    function maps(namespace: string): ResourceClient {
      return client.resource(ConfigMap, namespace);
    }

    function makeMap(namespace: string, name: string, ownerReferences: OwnerReference[] = [], finalizers?: string[]): Promise<KubeObject> {
      return maps(namespace).create({ metadata: { name, ownerReferences, finalizers } });
    }

    test('a namespace gets its default ServiceAccount and the CA, again when they are deleted or changed', async () => {
      const namespace = await makeNamespace('fresh');
      const accounts = client.resource(ServiceAccount, namespace);
      await vi.waitFor(async () => {
        expect(await exists(accounts, 'default')).toBe(true);
        expect((await maps(namespace).get('kube-root-ca.crt')).data).toEqual({ 'ca.crt': 'the CA' });
      }, WAIT);
      await accounts.delete('default');
      await maps(namespace).patch('kube-root-ca.crt', { type: 'merge', patch: { data: { 'ca.crt': 'another', more: 'x' } } });
      await vi.waitFor(async () => {
        expect(await exists(accounts, 'default')).toBe(true);
        expect((await maps(namespace).get('kube-root-ca.crt')).data).toEqual({ 'ca.crt': 'the CA' });
      }, WAIT);
    });

    test('a deleted namespace is emptied and goes', async () => {
      const namespace = await makeNamespace('doomed');
      for (let i = 0; i < 20; i++) await makeMap(namespace, `map-${i}`);
      await client.resource(Secret, namespace).create({ metadata: { name: 's' }, stringData: { a: 'b' } });
      await client.resource(Namespace).delete(namespace);
      await gone(client.resource(Namespace), namespace);
      expect((await maps(namespace).list()).items).toEqual([]);
    });

    test('a namespace whose content holds on says so in its conditions, and goes when that lets go', async () => {
      const namespace = await makeNamespace('held');
      await makeMap(namespace, 'stubborn', [], ['example.com/hold']);
      await client.resource(Namespace).delete(namespace);
      await vi.waitFor(async () => {
        const { status } = await client.resource(Namespace).get(namespace);
        expect(status?.phase).toBe('Terminating');
        const condition = (type: string): unknown => status?.conditions?.find((one: { type: string }) => one.type === type);
        expect(condition('NamespaceContentRemaining')).toMatchObject({
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: 'Some resources are remaining: configmaps. has 1 resource instances',
        });
        expect(condition('NamespaceFinalizersRemaining')).toMatchObject({
          message: 'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
        });
        expect(condition('NamespaceDeletionContentFailure')).toMatchObject({ status: 'False', reason: 'ContentDeleted' });
      }, WAIT);
      await maps(namespace).patch('stubborn', { type: 'merge', patch: { metadata: { finalizers: null } } });
      await gone(client.resource(Namespace), namespace);
    });

    test('dependents go in the background when their owner is deleted, and theirs too', async () => {
      const namespace = await makeNamespace('gc-background');
      const owner = await makeMap(namespace, 'owner');
      const child = await makeMap(namespace, 'child', [ownerReference(owner)]);
      await makeMap(namespace, 'grandchild', [ownerReference(child)]);
      await makeMap(namespace, 'stranger');
      await maps(namespace).delete('owner', { propagationPolicy: 'Background' });
      await gone(maps(namespace), 'child');
      await gone(maps(namespace), 'grandchild');
      expect(await exists(maps(namespace), 'stranger')).toBe(true);
    });

    test('an object whose owner never existed is collected, and one with another living owner only loses the reference', async () => {
      const namespace = await makeNamespace('gc-absent');
      const ghost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: '00000000-0000-0000-0000-000000000000' };
      const alive = await makeMap(namespace, 'alive');
      await makeMap(namespace, 'orphan', [ghost]);
      await makeMap(namespace, 'shared', [ghost, ownerReference(alive)]);
      await gone(maps(namespace), 'orphan');
      await vi.waitFor(async () => {
        expect((await maps(namespace).get('shared')).metadata.ownerReferences).toEqual([ownerReference(alive)]);
      }, WAIT);
    });

    test('foreground deletion keeps the owner until blocking dependents are gone', async () => {
      const namespace = await makeNamespace('gc-foreground');
      const owner = await makeMap(namespace, 'owner');
      await makeMap(namespace, 'blocking', [ownerReference(owner, { blockOwnerDeletion: true })], ['example.com/hold']);
      await maps(namespace).delete('owner', { propagationPolicy: 'Foreground' });
      await vi.waitFor(async () => expect((await maps(namespace).get('blocking')).metadata.deletionTimestamp).toBeDefined(), WAIT);
      expect((await maps(namespace).get('owner')).metadata.finalizers).toEqual(['foregroundDeletion']);
      await maps(namespace).patch('blocking', { type: 'merge', patch: { metadata: { finalizers: null } } });
      await gone(maps(namespace), 'owner');
    });

    test('a circle of foreground deletions is broken', async () => {
      const namespace = await makeNamespace('gc-circle');
      const a = await makeMap(namespace, 'a');
      const b = await makeMap(namespace, 'b', [ownerReference(a, { blockOwnerDeletion: true })]);
      await maps(namespace).patch('a', {
        type: 'merge',
        patch: { metadata: { ownerReferences: [ownerReference(b, { blockOwnerDeletion: true })] } },
      });
      await maps(namespace).delete('a', { propagationPolicy: 'Foreground' });
      await gone(maps(namespace), 'a');
      await gone(maps(namespace), 'b');
    });

    test('orphaning lets the owner go and its dependents live', async () => {
      const namespace = await makeNamespace('gc-orphan');
      const owner = await makeMap(namespace, 'owner');
      await makeMap(namespace, 'child', [ownerReference(owner)]);
      await maps(namespace).delete('owner', { propagationPolicy: 'Orphan' });
      await gone(maps(namespace), 'owner');
      expect((await maps(namespace).get('child')).metadata.ownerReferences ?? []).toEqual([]);
    });

    test('custom objects are owners and dependents as soon as their kind is served', async () => {
      const namespace = await makeNamespace('gc-custom');
      await client.resource(CustomResourceDefinition).create({
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            },
          ],
        },
      });
      const Widget = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
      const widgets = client.resource(Widget, namespace);
      const owner = await vi.waitFor(() => widgets.create({ metadata: { name: 'w' } }), WAIT);
      await makeMap(namespace, 'of-widget', [ownerReference(owner)]);
      const map = await makeMap(namespace, 'map');
      await widgets.create({ metadata: { name: 'of-map', ownerReferences: [ownerReference(map)] } });
      await widgets.delete('w');
      await maps(namespace).delete('map');
      await gone(maps(namespace), 'of-widget');
      await gone(widgets, 'of-map');
    });

    test('an aggregated ClusterRole gets the rules of the roles that it selects', async () => {
      const roles = client.resource(ClusterRole);
      const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
      await roles.create({
        metadata: { name: 'sum' },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'to-sum': 'yes' } }] },
        rules: [],
      });
      await roles.create({ metadata: { name: 'part', labels: { 'to-sum': 'yes' } }, rules: [rule] });
      await vi.waitFor(async () => expect((await roles.get('sum')).rules).toEqual([rule]), WAIT);
      await roles.delete('part');
      await vi.waitFor(async () => expect((await roles.get('sum')).rules ?? []).toEqual([]), WAIT);
    });

    test('a quota tells what is used, and what deletions give back', async () => {
      const namespace = await makeNamespace('counted');
      await vi.waitFor(async () => expect(await exists(maps(namespace), 'kube-root-ca.crt')).toBe(true), WAIT);
      const quotas = client.resource(ResourceQuota, namespace);
      await quotas.create({ metadata: { name: 'q' }, spec: { hard: { configmaps: '5', pods: '2' } } });
      const used = async (): Promise<unknown> => (await quotas.get('q')).status?.used;
      await vi.waitFor(async () => expect(await used()).toEqual({ configmaps: '1', pods: '0' }), WAIT);
      await makeMap(namespace, 'a');
      await makeMap(namespace, 'b');
      const pods = client.resource(Pod, namespace);
      await vi.waitFor(() => pods.create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }), WAIT);
      await vi.waitFor(async () => expect(await used()).toEqual({ configmaps: '3', pods: '1' }), WAIT);
      await maps(namespace).delete('a');
      await pods.status.patch('p', { type: 'merge', patch: { status: { phase: 'Succeeded' } } });
      await vi.waitFor(async () => expect(await used()).toEqual({ configmaps: '2', pods: '0' }), WAIT);
    });

    test('a quota whose status somebody else wrote is set right', async () => {
      const namespace = await makeNamespace('meddled');
      const quotas = client.resource(ResourceQuota, namespace);
      await quotas.create({ metadata: { name: 'q' }, spec: { hard: { pods: '2' } } });
      const status = async (): Promise<unknown> => (await quotas.get('q')).status;
      await vi.waitFor(async () => expect(await status()).toEqual({ hard: { pods: '2' }, used: { pods: '0' } }), WAIT);
      await quotas.status.patch('q', { type: 'merge', patch: { status: { hard: { pods: '99' } } } });
      await vi.waitFor(async () => expect(await status()).toEqual({ hard: { pods: '2' }, used: { pods: '0' } }), WAIT);
    });
  });
}
