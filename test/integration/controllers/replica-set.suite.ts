import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { Event, Namespace, Pod, ReplicaSet, ReplicationController, ResourceQuota } from '../../../src/client/kinds.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { Kubelet } from './kubelet.ts';

/** What the replica set controller does, on any API server that none other serves. `connect` starts the controllers. */
export function replicaSetSuite(name: string, connect: () => Promise<{ client: Client; warnings: string[] }>): void {
  describe(`replica set controller on ${name}`, () => {
    const WAIT = { timeout: 5000, interval: 20 };
    let engine: { client: Client; warnings: string[] };
    let kubelet: Kubelet;

    beforeAll(async () => {
      engine = await connect();
      kubelet = new Kubelet(engine.client);
    });

    async function makeNamespace(name: string): Promise<string> {
      await engine.client.resource(Namespace).create({ metadata: { name } });
      return name;
    }

    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

    function makeSet(namespace: string, replicas: number): Promise<KubeObject> {
      return engine.client.resource<KubeObject>(ReplicaSet, namespace).create({
        metadata: { name: 'web' },
        spec: { replicas, selector: { matchLabels: { app: 'web' } }, template },
      });
    }

    const sets = (namespace: string) => engine.client.resource<KubeObject>(ReplicaSet, namespace);

    async function expectPods(namespace: string, count: number): Promise<KubeObject[]> {
      await vi.waitFor(async () => expect(await kubelet.pods(namespace)).toHaveLength(count), WAIT);
      return kubelet.pods(namespace);
    }

    test('a ReplicaSet gets its Pods, counts them and follows spec.replicas', async () => {
      const namespace = await makeNamespace('rs-scale');
      await makeSet(namespace, 7);
      const pods = await expectPods(namespace, 7);
      expect(pods[0].metadata).toMatchObject({ generateName: 'web-', ownerReferences: [{ kind: 'ReplicaSet', controller: true }] });
      await kubelet.runAll(namespace);
      await vi.waitFor(async () => {
        expect((await sets(namespace).get('web')).status).toEqual({
          replicas: 7,
          fullyLabeledReplicas: 7,
          readyReplicas: 7,
          availableReplicas: 7,
          terminatingReplicas: 0,
          observedGeneration: 1,
        });
      }, WAIT);
      await sets(namespace).patch('web', { type: 'merge', patch: { spec: { replicas: 2 } } });
      await expectPods(namespace, 2);
      await vi.waitFor(
        async () => expect((await sets(namespace).get('web')).status).toMatchObject({ replicas: 2, observedGeneration: 2 }),
        WAIT,
      );
    });

    test('a Pod that failed or was deleted is replaced, an unready one goes first when scaling down', async () => {
      const namespace = await makeNamespace('rs-replace');
      await makeSet(namespace, 2);
      const [first] = await expectPods(namespace, 2);
      await kubelet.fail(first);
      await expectPods(namespace, 3);
      await kubelet.runAll(namespace);
      const running = (await kubelet.pods(namespace)).filter(({ status }) => status?.phase === 'Running');
      expect(running).toHaveLength(2);
      await kubelet.unready(running[0]);
      await sets(namespace).patch('web', { type: 'merge', patch: { spec: { replicas: 1 } } });
      await vi.waitFor(async () => {
        const names = (await kubelet.pods(namespace)).map(({ metadata }) => metadata.name);
        expect(new Set(names)).toEqual(new Set([first.metadata.name, running[1].metadata.name]));
      }, WAIT);
    });

    test('matching orphans are adopted; Pods that match no longer are released and replaced', async () => {
      const namespace = await makeNamespace('rs-claim');
      const pods = engine.client.resource<KubeObject>(Pod, namespace);
      await vi.waitFor(() => pods.create({ metadata: { name: 'orphan', labels: { app: 'web' } }, spec: template.spec }), WAIT);
      await makeSet(namespace, 2);
      await expectPods(namespace, 2);
      const owner = async () => (await pods.get('orphan')).metadata.ownerReferences;
      await vi.waitFor(async () => expect(await owner()).toMatchObject([{ kind: 'ReplicaSet', name: 'web', controller: true }]), WAIT);
      await pods.patch('orphan', { type: 'merge', patch: { metadata: { labels: { app: 'debug' } } } });
      await expectPods(namespace, 3);
      expect((await owner()) ?? []).toEqual([]);
    });

    test('a quota in the way is a ReplicaFailure and an event, until it is gone', async () => {
      const namespace = await makeNamespace('rs-quota');
      const quotas = engine.client.resource(ResourceQuota, namespace);
      await quotas.create({ metadata: { name: 'q' }, spec: { hard: { pods: '1' } } });
      await vi.waitFor(async () => expect((await quotas.get('q')).status?.used).toEqual({ pods: '0' }), WAIT);
      await makeSet(namespace, 3);
      await vi.waitFor(async () => {
        expect((await sets(namespace).get('web')).status?.conditions).toMatchObject([
          { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: expect.stringContaining('exceeded quota: q') },
        ]);
        const events = (await engine.client.resource<KubeObject>(Event, namespace).list()).items.map(({ reason }) => reason);
        expect(events).toContain('FailedCreate');
        expect(events).toContain('SuccessfulCreate');
      }, WAIT);
      await quotas.delete('q');
      await expectPods(namespace, 3);
      await vi.waitFor(async () => expect((await sets(namespace).get('web')).status?.conditions).toBeUndefined(), WAIT);
    });

    test('a ReplicationController does the same with its own kind of selector, and its Pods go with it', async () => {
      const namespace = await makeNamespace('rc');
      const controllers = engine.client.resource<KubeObject>(ReplicationController, namespace);
      await controllers.create({ metadata: { name: 'web' }, spec: { replicas: 2, selector: { app: 'web' }, template } });
      await expectPods(namespace, 2);
      await kubelet.runAll(namespace);
      await vi.waitFor(async () => {
        expect((await controllers.get('web')).status).toEqual({
          replicas: 2,
          fullyLabeledReplicas: 2,
          readyReplicas: 2,
          availableReplicas: 2,
          observedGeneration: 1,
        });
      }, WAIT);
      await controllers.delete('web', { propagationPolicy: 'Background' });
      await expectPods(namespace, 0);
    });
  });
}
