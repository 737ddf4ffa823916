import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { ControllerRevision, DaemonSet, Event, Namespace, Node } from '../../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { Kubelet } from './kubelet.ts';

/** What the daemon set controller does, on any API server that none other serves. `connect` starts the controllers. */
export function daemonSetSuite(name: string, connect: () => Promise<{ client: Client; warnings: string[] }>): void {
  describe(`daemon set controller on ${name}`, () => {
    const WAIT = { timeout: 5000, interval: 20 };
    let engine: { client: Client; warnings: string[] };
    let kubelet: Kubelet;

    beforeAll(async () => {
      engine = await connect();
      kubelet = new Kubelet(engine.client);
      for (const name of ['one', 'two', 'three']) await engine.client.resource(Node).create({ metadata: { name, labels: { name } } });
      await ready('one', 'two', 'three');
    });

    /** Admission taints new nodes as not ready; the node lifecycle controller would take that off. */
    async function ready(...names: string[]): Promise<void> {
      for (const name of names) await engine.client.resource(Node).patch(name, { type: 'merge', patch: { spec: { taints: null } } });
    }

    const sets = (namespace: string) => engine.client.resource<KubeObject>(DaemonSet, namespace);
    /** kube-controller-manager looks at some changes of nodes only with the next change of the set. */
    const lookAgain = (namespace: string) =>
      sets(namespace).patch('agent', { type: 'merge', patch: { metadata: { annotations: { looked: String(Date.now()) } } } });
    const template = (image: string, spec: Json = {}) => ({
      metadata: { labels: { app: 'agent' } },
      spec: { containers: [{ name: 'c', image }], ...spec },
    });

    async function makeSet(namespace: string, spec: Json): Promise<void> {
      await engine.client.resource(Namespace).create({ metadata: { name: namespace } });
      await sets(namespace).create({ metadata: { name: 'agent' }, spec: { selector: { matchLabels: { app: 'agent' } }, ...spec } });
    }

    const nodeOf = ({ spec }: KubeObject): string =>
      spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values[0];

    async function placed(namespace: string): Promise<Record<string, string>> {
      const pods = await kubelet.pods(namespace);
      return Object.fromEntries(pods.map((pod) => [nodeOf(pod), pod.spec.containers[0].image]));
    }

    const status = async (namespace: string): Promise<Json> => (await sets(namespace).get('agent')).status;

    test('every node gets a Pod that tolerates its troubles, and the status counts them', async () => {
      await makeSet('ds-all', { template: template('v1') });
      await vi.waitFor(async () => expect(await placed('ds-all')).toEqual({ one: 'v1', two: 'v1', three: 'v1' }), WAIT);
      const [pod] = await kubelet.pods('ds-all');
      expect(pod.spec.tolerations).toContainEqual({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' });
      expect(pod.metadata.labels).toMatchObject({ app: 'agent', 'controller-revision-hash': expect.any(String) });
      await kubelet.runAll('ds-all');
      await vi.waitFor(async () => {
        expect(await status('ds-all')).toEqual({
          observedGeneration: 1,
          currentNumberScheduled: 3,
          desiredNumberScheduled: 3,
          numberMisscheduled: 0,
          numberReady: 3,
          updatedNumberScheduled: 3,
          numberAvailable: 3,
        });
      }, WAIT);
    });

    test('selectors, taints and nodes that come and go decide where Pods are', async () => {
      await makeSet('ds-some', { template: template('v1', { nodeSelector: { pool: 'gpu' } }) });
      await vi.waitFor(async () => expect((await status('ds-some')).desiredNumberScheduled).toBe(0), WAIT);
      const nodes = engine.client.resource(Node);
      await nodes.patch('two', { type: 'merge', patch: { metadata: { labels: { pool: 'gpu' } } } });
      await vi.waitFor(async () => expect(await placed('ds-some')).toEqual({ two: 'v1' }), WAIT);
      await nodes.create({ metadata: { name: 'four', labels: { pool: 'gpu' } } });
      await ready('four');
      await vi.waitFor(async () => expect(await placed('ds-some')).toEqual({ two: 'v1', four: 'v1' }), WAIT);
      await nodes.patch('two', { type: 'merge', patch: { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } } });
      await lookAgain('ds-some');
      await vi.waitFor(
        async () => expect(await status('ds-some')).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 1 }),
        WAIT,
      );
      expect(await placed('ds-some')).toEqual({ two: 'v1', four: 'v1' });
      await nodes.patch('two', { type: 'merge', patch: { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } } });
      await lookAgain('ds-some');
      await vi.waitFor(async () => expect(await placed('ds-some')).toEqual({ four: 'v1' }), WAIT);
      await ready('two');
      await nodes.delete('four');
      await lookAgain('ds-some');
      await vi.waitFor(async () => expect(await placed('ds-some')).toEqual({ two: 'v1' }), WAIT);
    });

    test('a rolling update replaces one after the other and keeps the history', async () => {
      await makeSet('ds-roll', { template: template('v1') });
      await vi.waitFor(async () => expect(Object.keys(await placed('ds-roll'))).toHaveLength(3), WAIT);
      await kubelet.runAll('ds-roll');
      await vi.waitFor(async () => expect((await status('ds-roll')).numberAvailable).toBe(3), WAIT);
      await sets('ds-roll').patch('agent', { type: 'merge', patch: { spec: { template: template('v2') } } });
      const least: number[] = [];
      await vi.waitFor(async () => {
        least.push((await kubelet.pods('ds-roll')).filter((pod) => pod.status?.phase === 'Running').length);
        await kubelet.runAll('ds-roll');
        expect(await placed('ds-roll')).toEqual({ one: 'v2', two: 'v2', three: 'v2' });
      }, WAIT);
      expect(Math.min(...least)).toBeGreaterThanOrEqual(2);
      const revisions = (await engine.client.resource<KubeObject>(ControllerRevision, 'ds-roll').list()).items;
      // Programs compare them byte by byte with what they make of the template.
      expect(JSON.stringify(revisions[0].data)).toMatch(
        /^\{"spec":\{"template":\{"\$patch":"replace","metadata":\{"labels":\{"app":"agent"\}\},"spec":\{"containers":\[\{"image":/,
      );
      expect(new Set(revisions.map(({ revision }) => revision))).toEqual(new Set([1, 2]));
      // What `kubectl rollout undo` sends.
      await sets('ds-roll').patch('agent', { type: 'strategic', patch: revisions.find(({ revision }) => revision === 1)!.data });
      await vi.waitFor(async () => {
        await kubelet.runAll('ds-roll');
        expect(await placed('ds-roll')).toEqual({ one: 'v1', two: 'v1', three: 'v1' });
      }, WAIT);
      const after = (await engine.client.resource<KubeObject>(ControllerRevision, 'ds-roll').list()).items;
      expect(new Set(after.map(({ revision }) => revision))).toEqual(new Set([2, 3]));
    });

    test('with maxSurge the new Pod comes before the old one goes', async () => {
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
      await makeSet('ds-surge', { template: template('v1'), updateStrategy });
      await vi.waitFor(async () => expect(Object.keys(await placed('ds-surge'))).toHaveLength(3), WAIT);
      await kubelet.runAll('ds-surge');
      await vi.waitFor(async () => expect((await status('ds-surge')).numberAvailable).toBe(3), WAIT);
      await sets('ds-surge').patch('agent', { type: 'merge', patch: { spec: { template: template('v2') } } });
      const least: number[] = [];
      await vi.waitFor(async () => {
        least.push((await kubelet.pods('ds-surge')).filter((pod) => pod.status?.phase === 'Running').length);
        await kubelet.runAll('ds-surge');
        expect(await placed('ds-surge')).toEqual({ one: 'v2', two: 'v2', three: 'v2' });
        expect(await kubelet.pods('ds-surge')).toHaveLength(3);
      }, WAIT);
      expect(Math.min(...least)).toBe(3);
    });

    test('OnDelete replaces only what somebody deletes; a failed Pod is replaced with an event', async () => {
      await makeSet('ds-manual', { template: template('v1', { nodeSelector: { name: 'one' } }), updateStrategy: { type: 'OnDelete' } });
      await vi.waitFor(async () => expect(await placed('ds-manual')).toEqual({ one: 'v1' }), WAIT);
      await sets('ds-manual').patch('agent', {
        type: 'merge',
        patch: { spec: { template: template('v2', { nodeSelector: { name: 'one' } }) } },
      });
      await vi.waitFor(async () => expect((await status('ds-manual')).observedGeneration).toBe(2), WAIT);
      expect(await placed('ds-manual')).toEqual({ one: 'v1' });
      const [old] = await kubelet.pods('ds-manual');
      await kubelet.fail(old);
      await vi.waitFor(async () => expect(await placed('ds-manual')).toEqual({ one: 'v2' }), WAIT);
      await vi.waitFor(async () => {
        const reasons = (await engine.client.resource<KubeObject>(Event, 'ds-manual').list()).items.map(({ reason }) => reason);
        expect(reasons).toContain('FailedDaemonPod');
      }, WAIT);
    });

    test('nothing had to be warned about', () => {
      expect(engine.warnings).toEqual([]);
    });
  });
}
