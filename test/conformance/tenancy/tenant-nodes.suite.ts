import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TenantKind } from '../../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { DaemonSet, Namespace, Node, Pod, PodDisruptionBudget } from '../../../src/client/kinds.ts';
import { findCondition, isConditionTrue } from '../../../src/kube/conditions.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import type { ApiTarget } from '../../support/api-target.ts';
import { TenantWorld } from './tenant-world.ts';

/** The dial between shared and dedicated nodes. Needs a scheduler, and controllers of Deployments and disruption budgets. */
export function tenantNodesSuite(start: () => Promise<ApiTarget>): void {
  let world: TenantWorld;
  let stopKubelet: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    world = await TenantWorld.over(await start());
    await Promise.all([world.node('shared'), world.node('own-1', { pool: 'acme' }), world.node('own-2', { pool: 'acme' })]);
    await world.tenant('acme');
    await world.tenant('beta');
    stopKubelet = world.playKubelet(['acme', 'beta']);
  }, 300_000);
  afterAll(async () => {
    await stopKubelet?.();
    await world?.stop();
  }, 60_000);

  const OWN = ['own-1', 'own-2'];
  const POOL = { isolation: 'DedicatedNodes', nodePool: { matchLabels: { pool: 'acme' } } };

  async function placed(namespace: string, count: number, isPlace: (node: string) => boolean): Promise<KubeObject[]> {
    return world.eventually(async () => {
      const pods = (await world.pods(namespace)).filter(({ metadata }) => !metadata.deletionTimestamp);
      const there = pods.filter(
        ({ spec, status }) => spec.nodeName && isPlace(spec.nodeName) && isConditionTrue(status?.conditions, 'Ready'),
      );
      return pods.length === count && there.length === count ? pods : undefined;
    });
  }

  describe('the dial', { timeout: 60_000 }, () => {
    it('is not turned, when Pods would be lost, and says so', async () => {
      await world.client
        .resource(Pod, 'acme')
        .create({ metadata: { name: 'alone' }, spec: { containers: [{ name: 'main', image: 'example/app' }] } });
      await world.patch('acme', POOL);
      const stuck = await world.until('acme', ({ status }) => findCondition(status?.conditions, 'Isolated')?.reason === 'Obstructed');
      expect(findCondition(stuck.status?.conditions, 'Isolated')?.message).toContain(
        'nothing would make acme/alone again elsewhere; delete it',
      );
      expect(stuck.status?.isolation).toBe('Namespace');
      expect((await world.client.resource(Node).get('own-1')).spec?.taints ?? []).toEqual([]);
      await world.client.resource(Pod, 'acme').delete('alone', { gracePeriodSeconds: 0 });
      await world.ready('acme');
      await world.patch('acme', { isolation: 'Namespace' });
      await world.ready('acme');
      expect((await world.client.resource(Node).get('own-1')).metadata.labels).not.toHaveProperty('tenantry.dev/tenant');
    });

    it('moves workloads to nodes of their own, one Pod after the other, while budgets hold, and others away', async () => {
      await world.deployment('acme', 'web', 3);
      await world.deployment('beta', 'other', 3);
      await placed('acme', 3, () => true);
      await placed('beta', 3, () => true);
      const budget = { metadata: { name: 'web' }, spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } } };
      await world.client.resource(PodDisruptionBudget, 'acme').create(budget);
      const phases = new Set<string>();
      let fewest = 3;
      const watching = new AbortController();
      const watched = (async () => {
        while (!watching.signal.aborted) {
          phases.add((await world.get('acme')).status?.phase ?? '');
          const running = (await world.pods('acme')).filter(({ status }) => isConditionTrue(status?.conditions, 'Ready'));
          fewest = Math.min(fewest, running.length);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      })();
      await world.patch('acme', POOL);
      const moved = await world.until('acme', ({ status }) => status?.isolation === 'DedicatedNodes');
      watching.abort();
      await watched;
      expect(moved.status).toMatchObject({ phase: 'Active', nodes: OWN });
      expect(findCondition(moved.status?.conditions, 'Moving')).toMatchObject({ status: 'False', message: 'all 3 Pods are in place' });
      expect(phases).toContain('Moving');
      expect(fewest).toBeGreaterThanOrEqual(2);
      for (const { spec } of await placed('acme', 3, (node) => OWN.includes(node)))
        expect(spec.nodeSelector).toEqual({ 'tenantry.dev/tenant': 'acme' });
      await placed('beta', 3, (node) => node === 'shared');
      const { metadata, spec } = await world.client.resource(Node).get('own-1');
      expect(metadata.labels).toMatchObject({ 'tenantry.dev/tenant': 'acme' });
      expect(spec?.taints).toContainEqual({ key: 'tenantry.dev/tenant', value: 'acme', effect: 'NoSchedule' });
      expect((await world.client.resource(Namespace).get('acme--sys')).metadata.annotations).toMatchObject({
        'tenantry.dev/node-pool': 'acme',
      });
    });

    it('keeps new Pods of the tenant on its nodes, those of a new namespace at once, and all others off', async () => {
      await world.namespace('acme', 'acme--new');
      const container = { containers: [{ name: 'main', image: 'example/app' }] };
      const own = await world.client.resource(Pod, 'acme--new').create({ metadata: { name: 'p' }, spec: container });
      expect(own.spec?.nodeSelector).toEqual({ 'tenantry.dev/tenant': 'acme' });
      const labels = { app: 'agent' };
      const agent = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: container } };
      const daemons = await world.client.resource(DaemonSet, 'acme').create({ metadata: { name: 'agent' }, spec: agent });
      expect(daemons.spec?.template.spec?.nodeSelector).toEqual({ 'tenantry.dev/tenant': 'acme' });

      await world.client.resource(Namespace).create({ metadata: { name: 'plain' } });
      const plain = (spec: object) =>
        world.client.resource(Pod, 'plain').create({ metadata: { name: 'p' }, spec: { ...container, ...spec } });
      await expect(plain({ nodeName: 'own-1' })).rejects.toThrow('its node is not for everybody');
      await expect(plain({ tolerations: [{ key: 'tenantry.dev/tenant', value: 'acme' }] })).rejects.toThrow('tolerates the taint');
      const everywhere = await plain({ tolerations: [{ operator: 'Exists' }] });
      expect(everywhere.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
        { matchExpressions: [{ key: 'tenantry.dev/tenant', operator: 'DoesNotExist' }] },
      ]);
      await world.client.resource(Pod, 'acme--new').delete('p', { gracePeriodSeconds: 0 });
    });

    it('gives no node to two tenants', async () => {
      await world.patch('beta', POOL);
      const stuck = await world.until('beta', ({ status }) => findCondition(status?.conditions, 'Isolated')?.reason === 'Obstructed');
      const { message } = findCondition(stuck.status?.conditions, 'Isolated')!;
      expect(message).toContain('2 nodes of spec.nodePool already belong to another tenant');
      expect(message).not.toContain('acme');
      await world.patch('beta', { isolation: 'Namespace' });
    });

    it('is turned back, and the nodes are everybody’s again', async () => {
      await world.patch('acme', { isolation: 'Namespace' });
      await world.until('acme', ({ status }) => status?.isolation === 'Namespace');
      for (const name of OWN) {
        const { metadata, spec } = await world.client.resource(Node).get(name);
        expect(metadata.labels).not.toHaveProperty('tenantry.dev/tenant');
        expect(spec?.taints ?? []).toEqual([]);
      }
      const pods = await world.eventually(async () => {
        const all = (await world.pods('acme')).filter(({ metadata }) => metadata.labels?.['app'] === 'web' && !metadata.deletionTimestamp);
        return all.length === 3 && all.every(({ spec }) => spec.nodeSelector?.['tenantry.dev/tenant'] === undefined) && all;
      });
      expect(pods).toHaveLength(3);
      const daemons = await world.client.resource(DaemonSet, 'acme').get('agent');
      expect(daemons.spec?.template.spec?.nodeSelector ?? {}).toEqual({});
    });

    it('gives the nodes of a deleted tenant back', async () => {
      await world.tenant('brief', { isolation: 'DedicatedNodes', nodePool: { names: ['own-2'] } });
      expect((await world.get('brief')).status?.nodes).toEqual(['own-2']);
      await world.client.resource(TenantKind).delete('brief');
      await world.eventually(async () => (await world.find(() => world.get('brief'))) === undefined);
      const { metadata, spec } = await world.client.resource(Node).get('own-2');
      expect(metadata.labels).not.toHaveProperty('tenantry.dev/tenant');
      expect(spec?.taints ?? []).toEqual([]);
    });
  });
}
