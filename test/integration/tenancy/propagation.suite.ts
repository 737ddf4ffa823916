import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { HncConfigurationKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { CONFIG_NAME } from '../../../src/api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { Client } from '../../../src/client/client.ts';
import { ConfigMap, CoreEvent, CustomResourceDefinition, Namespace, RoleBinding, Secret } from '../../../src/client/kinds.ts';
import { findCondition } from '../../../src/kube/conditions.ts';
import type { Kind } from '../../../src/kube/kind.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { installObjects } from '../../../src/main/areas.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { PropagationWorld } from './propagation-world.ts';

const CONFIG_MAPS = { resource: 'configmaps', mode: 'Propagate' } as const;
const WIDGET: Kind = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
const WIDGETS: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** What every server must get of propagation. `start` gives a server without controllers of ours. */
export function propagationSuite(name: string, start: () => Promise<{ client: Client; stop(): Promise<void> }>): void {
  describe(`propagation on ${name}`, () => {
    let world: PropagationWorld;
    let server: Awaited<ReturnType<typeof start>>;

    beforeAll(async () => {
      server = await start();
      await installObjects(server.client, ownCustomResourceDefinitions());
      world = await PropagationWorld.start(server.client);
    }, 120_000);

    afterAll(async () => {
      await world?.stop();
      await server?.stop();
    });

    const eventually = <T>(read: () => Promise<T> | T, check: (value: T) => void): Promise<void> =>
      vi.waitFor(async () => check(await read()), { timeout: 30_000, interval: 20 });
    const copies = (mapName: string, expected: Record<string, Record<string, string>>) =>
      eventually(
        () => world.copies(mapName),
        (found) => expect(found).toEqual(expected),
      );

    it('the configuration, is made when it is missing and names what is always propagated', async () => {
      await eventually(
        () => world.configuration(),
        (configuration) =>
          expect(configuration?.status?.resources).toEqual([
            expect.objectContaining({ resource: 'rolebindings', mode: 'Propagate', version: 'v1', numPropagatedObjects: 0 }),
            expect.objectContaining({ resource: 'roles', mode: 'Propagate', version: 'v1', numPropagatedObjects: 0 }),
          ]),
      );
      await world.configure([CONFIG_MAPS]);
    });

    it('a copy, follows its source until both are gone', async () => {
      await world.namespace('one');
      await world.namespace('one-child', 'one');
      await world.namespace('one-grandchild', 'one-child');
      await world.configMap('one', 'followed', { a: '1' }, { labels: { team: 'x' } });
      await copies('followed', { one: { a: '1' }, 'one-child': { a: '1' }, 'one-grandchild': { a: '1' } });
      const copy = await server.client.resource(ConfigMap, 'one-grandchild').get('followed');
      expect(copy.metadata.labels).toEqual({
        team: 'x',
        'app.kubernetes.io/managed-by': 'hnc.x-k8s.io',
        'hnc.x-k8s.io/inherited-from': 'one',
      });
      await world.configMap('one', 'followed', { a: '2', b: '3' });
      await copies('followed', { one: { a: '2', b: '3' }, 'one-child': { a: '2', b: '3' }, 'one-grandchild': { a: '2', b: '3' } });
      await eventually(
        () => world.configuration(),
        (configuration) => expect(configuration?.status?.resources?.[0]).toMatchObject({ resource: 'configmaps', numPropagatedObjects: 2 }),
      );
      await server.client.resource(ConfigMap, 'one').delete('followed');
      await copies('followed', {});
    });

    it('a RoleBinding that names another role, is made anew where it was copied', async () => {
      const bind = (role: string) => ({
        metadata: { name: 'bound' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }],
      });
      const bindings = server.client.resource(RoleBinding, 'one');
      const copied = server.client.resource(RoleBinding, 'one-grandchild');
      const roleIs = (role: string) =>
        eventually(
          () => copied.get('bound'),
          ({ roleRef }) => expect(roleRef.name).toBe(role),
        );
      await bindings.create(bind('view'));
      await roleIs('view');
      await bindings.delete('bound');
      await bindings.create(bind('edit'));
      await roleIs('edit');
    });

    it('a namespace that moves, loses the copies of one tree and gets those of the other', async () => {
      await world.namespace('old');
      await world.namespace('new');
      await world.namespace('mover', 'old');
      await world.configMap('old', 'moved', { from: 'old' });
      await world.configMap('old', 'left', { from: 'old' });
      await copies('left', { old: { from: 'old' }, mover: { from: 'old' } });
      await world.configMap('new', 'moved', { from: 'new' });
      await world.move('mover', 'new');
      await copies('moved', { old: { from: 'old' }, new: { from: 'new' }, mover: { from: 'new' } });
      await copies('left', { old: { from: 'old' } });
      await world.move('mover', 'nowhere');
      await server.client.resource(ConfigMap, 'new').delete('moved');
      await world.configMap('old', 'after', {});
      await copies('after', { old: {} });
      expect((await world.copies('moved'))['mover']).toEqual({ from: 'new' });
      await world.move('mover', '');
      await copies('moved', { old: { from: 'old' } });
    });

    it('exceptions, follow the labels of each namespace', async () => {
      await world.namespace('top');
      await world.namespace('red', 'top', { colour: 'red' });
      await world.namespace('blue', 'top', { colour: 'blue' });
      const annotations = { 'propagate.hnc.x-k8s.io/select': 'colour=red' };
      await world.configMap('top', 'selected', {}, { annotations });
      await copies('selected', { top: {}, red: {} });
      await server.client.resource(Namespace).patch('blue', { type: 'merge', patch: { metadata: { labels: { colour: 'red' } } } });
      await server.client.resource(Namespace).patch('red', { type: 'merge', patch: { metadata: { labels: { colour: 'green' } } } });
      await copies('selected', { top: {}, blue: {} });
    });

    it('what is done to copies by hand, is undone', async () => {
      await world.configMap('top', 'kept', { a: '1' });
      const all = { top: { a: '1' }, red: { a: '1' }, blue: { a: '1' } };
      await copies('kept', all);
      await server.client.resource(ConfigMap, 'red').delete('kept');
      await server.client.resource(ConfigMap, 'blue').patch('kept', { type: 'merge', patch: { data: { a: '2' } } });
      await copies('kept', all);
      await world.configMap('red', 'forged', {}, { labels: { 'hnc.x-k8s.io/inherited-from': 'top' } });
      await copies('forged', {});
    });

    it('a mode, decides what becomes of copies', async () => {
      const secrets = server.client.resource(Secret);
      const where = async () => {
        const { items } = await secrets.list({ fieldSelector: 'metadata.name=token' });
        return items.map(({ metadata }) => metadata.namespace!).sort();
      };
      const are = (expected: string[]) => eventually(where, (found) => expect(found).toEqual(expected));
      const mode = (value: 'Propagate' | 'Remove' | 'Ignore' | 'AllowPropagate') =>
        world.configure([CONFIG_MAPS, { resource: 'secrets', mode: value }]);
      const inForce = (value: string) =>
        eventually(
          () => world.configuration(),
          ({ status } = {} as never) => expect(status?.resources?.find(({ resource }) => resource === 'secrets')?.mode).toBe(value),
        );
      await secrets.create({ metadata: { name: 'token', namespace: 'top' }, stringData: { a: '1' } });
      await mode('Propagate');
      await are(['blue', 'red', 'top']);
      await mode('Ignore');
      await inForce('Ignore');
      await server.client.resource(Secret, 'red').delete('token');
      await mode('Remove');
      await are(['top']);
      await mode('AllowPropagate');
      await inForce('AllowPropagate');
      const annotations = { 'propagate.hnc.x-k8s.io/all': 'true' };
      await server.client.resource(Secret, 'top').patch('token', { type: 'merge', patch: { metadata: { annotations } } });
      await are(['blue', 'red', 'top']);
      await world.configure([CONFIG_MAPS]);
      await eventually(
        () => world.configuration(),
        (configuration) => expect(configuration?.status?.resources).toHaveLength(3),
      );
      await server.client.resource(Secret, 'top').delete('token');
      await world.configMap('top', 'later', {});
      await copies('later', { top: {}, red: {}, blue: {} });
      expect(await where()).toEqual(['blue', 'red']);
    });

    it('a type that is not served, is said to be wrong and begins when it is', async () => {
      await world.configure([CONFIG_MAPS, { group: 'example.com', resource: 'widgets' }]);
      const bad = async () => findCondition((await world.configuration())?.status?.conditions, 'BadConfiguration');
      await eventually(bad, (condition) =>
        expect(condition).toMatchObject({ reason: 'ResourceNotFound', message: 'no matches for example.com/, Resource=widgets' }),
      );
      await installObjects(server.client, [WIDGETS]);
      await eventually(bad, (condition) => expect(condition).toBeUndefined());
      await server.client.resource(WIDGET, 'top').create({ metadata: { name: 'w' }, spec: { size: 1 } });
      await eventually(
        () => server.client.resource(WIDGET, 'blue').get('w'),
        (widget) => expect(widget['spec']).toEqual({ size: 1 }),
      );
      await world.configure([CONFIG_MAPS]);
      await server.client.resource(CustomResourceDefinition).delete('widgets.example.com');
    });

    it('a source that cannot be copied, has an event that says why', async () => {
      await world.configMap('top', 'held', {}, { finalizers: ['example.com/held'] });
      await eventually(
        async () =>
          (await server.client.resource(CoreEvent, 'top').list()).items.find(({ involvedObject }) => involvedObject.name === 'held'),
        (event) =>
          expect(event).toMatchObject({
            reason: 'CannotPropagateObject',
            message: 'Objects with finalizers cannot be propagated',
            source: { component: 'hnc.x-k8s.io' },
          }),
      );
      await server.client.resource(ConfigMap, 'top').patch('held', { type: 'merge', patch: { metadata: { finalizers: null } } });
      await copies('held', { top: {}, red: {}, blue: {} });
    });

    it("a tenant's namespace of the platform, gets only what the platform vouches for", async () => {
      await world.namespace('acme', undefined, { 'tenantry.dev/tenant': 'acme' });
      await world.namespace('acme--sys', 'acme', { 'tenantry.dev/role': 'tenant-system' });
      await world.namespace('acme--dev', 'acme');
      await world.configMap('acme', 'vouched', {}, { annotations: { 'tenantry.dev/propagate-to-platform': 'true' } });
      await world.configMap('acme', 'plain', {});
      await copies('vouched', { acme: {}, 'acme--sys': {}, 'acme--dev': {} });
      await copies('plain', { acme: {}, 'acme--dev': {} });
    });

    it('a start over a state that is right, writes nothing', async () => {
      const everything = async () => {
        const lists = [
          server.client.resource(ConfigMap),
          server.client.resource(RoleBinding),
          server.client.resource(HncConfigurationKind),
        ];
        const found = await Promise.all(lists.map((resource) => (resource as { list(): Promise<{ items: KubeObject[] }> }).list()));
        return found
          .flatMap(({ items }) => items.map(({ metadata }) => `${metadata.namespace}/${metadata.name} ${metadata.resourceVersion}`))
          .sort();
      };
      await world.stop();
      const before = await everything();
      world = await PropagationWorld.start(server.client);
      // What comes after in every queue has been done, so what came before has.
      await world.configMap('top', 'last', {});
      await copies('last', { top: {}, red: {}, blue: {} });
      const own = (line: string) => !line.includes('/last ') && !line.includes(`/${CONFIG_NAME} `);
      expect((await everything()).filter(own)).toEqual(before.filter(own));
    });
  });
}
