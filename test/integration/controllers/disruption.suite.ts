import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { Deployment, Namespace, Pod, PodDisruptionBudget } from '../../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { Kubelet } from './kubelet.ts';

/** What the disruption controller does, on any API server that none other serves. `connect` starts the controllers. */
export function disruptionSuite(name: string, connect: () => Promise<{ client: Client; warnings: string[] }>): void {
  describe(`disruption controller on ${name}`, () => {
    const WAIT = { timeout: 5000, interval: 20 };
    let engine: { client: Client; warnings: string[] };
    let kubelet: Kubelet;

    beforeAll(async () => {
      engine = await connect();
      kubelet = new Kubelet(engine.client);
    });

    const budgets = (namespace: string) => engine.client.resource<KubeObject>(PodDisruptionBudget, namespace);
    const selector = { matchLabels: { app: 'web' } };
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

    async function makeBudget(namespace: string, spec: Json): Promise<void> {
      await budgets(namespace).create({ metadata: { name: 'web' }, spec: { selector, ...spec } });
    }

    async function makeDeployment(namespace: string): Promise<void> {
      await engine.client.resource(Namespace).create({ metadata: { name: namespace } });
      await engine.client
        .resource<KubeObject>(Deployment, namespace)
        .create({ metadata: { name: 'web' }, spec: { replicas: 3, selector, template } });
      await vi.waitFor(async () => expect(await kubelet.pods(namespace)).toHaveLength(3), WAIT);
      await kubelet.runAll(namespace);
    }

    const expectStatus = (namespace: string, expected: Json): Promise<void> =>
      vi.waitFor(async () => expect((await budgets(namespace).get('web')).status).toMatchObject(expected), WAIT);

    const evict = (namespace: string, name: string): Promise<unknown> =>
      engine.client
        .resource<KubeObject>(Pod, namespace)
        .subresource('eviction')
        .create(name, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } });

    test('a budget lets as many Pods go as it allows, and no more until they are back', async () => {
      await makeDeployment('pdb-spend');
      await makeBudget('pdb-spend', { maxUnavailable: 1 });
      await expectStatus('pdb-spend', {
        currentHealthy: 3,
        desiredHealthy: 2,
        expectedPods: 3,
        disruptionsAllowed: 1,
        observedGeneration: 1,
      });
      const [a, b] = await kubelet.pods('pdb-spend');
      await evict('pdb-spend', a.metadata.name!);
      await expect(evict('pdb-spend', b.metadata.name!)).rejects.toMatchObject({ code: 429 });
      await expectStatus('pdb-spend', { currentHealthy: 2, disruptionsAllowed: 0, conditions: [{ reason: 'InsufficientPods' }] });
      await vi.waitFor(async () => expect(await kubelet.pods('pdb-spend')).toHaveLength(3), WAIT);
      await kubelet.runAll('pdb-spend');
      await expectStatus('pdb-spend', {
        currentHealthy: 3,
        disruptionsAllowed: 1,
        conditions: [{ status: 'True', reason: 'SufficientPods' }],
      });
      expect((await budgets('pdb-spend').get('web')).status.disruptedPods).toBeUndefined();
    });

    test('Pods whose controller cannot be scaled stop everything, unless the budget is a number', async () => {
      const namespace = 'pdb-unknown';
      await engine.client.resource(Namespace).create({ metadata: { name: namespace } });
      const owner = { apiVersion: 'v1', kind: 'Namespace', name: namespace, controller: true };
      const { uid } = (await engine.client.resource(Namespace).get(namespace)).metadata;
      const metadata = { name: 'odd', labels: { app: 'web' }, ownerReferences: [{ ...owner, uid: uid! }] };
      await vi.waitFor(() => engine.client.resource(Pod, namespace).create({ metadata, spec: template.spec }), WAIT);
      await makeBudget(namespace, { maxUnavailable: 1 });
      await expectStatus(namespace, {
        disruptionsAllowed: 0,
        conditions: [{ reason: 'SyncFailed', message: 'namespaces does not implement the scale subresource' }],
      });
      await budgets(namespace).patch('web', { type: 'merge', patch: { spec: { maxUnavailable: null, minAvailable: 0 } } });
      await kubelet.runAll(namespace);
      await expectStatus(namespace, { currentHealthy: 1, expectedPods: 1, disruptionsAllowed: 1 });
    });

    test('nothing had to be warned about', () => {
      expect(engine.warnings).toEqual([]);
    });
  });
}
