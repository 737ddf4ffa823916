import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { ControllerRevision, Event, Namespace, PersistentVolumeClaim, StatefulSet } from '../../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { Kubelet } from './kubelet.ts';

/** What the stateful set controller does, on any API server that none other serves. `connect` starts the controllers. */
export function statefulSetSuite(name: string, connect: () => Promise<{ client: Client; warnings: string[] }>): void {
  describe(`stateful set controller on ${name}`, () => {
    const WAIT = { timeout: 5000, interval: 20 };
    let engine: { client: Client; warnings: string[] };
    let kubelet: Kubelet;

    beforeAll(async () => {
      engine = await connect();
      kubelet = new Kubelet(engine.client);
    });

    const sets = (namespace: string) => engine.client.resource<KubeObject>(StatefulSet, namespace);
    const template = (image: string) => ({ metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'c', image }] } });
    const volumeClaimTemplates = [
      { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    ];

    async function makeSet(namespace: string, spec: Json): Promise<void> {
      await engine.client.resource(Namespace).create({ metadata: { name: namespace } });
      await sets(namespace).create({
        metadata: { name: 'db' },
        spec: { serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template: template('v1'), ...spec },
      });
    }

    const patch = (namespace: string, spec: Json) => sets(namespace).patch('db', { type: 'merge', patch: { spec } });

    async function images(namespace: string): Promise<Record<string, string>> {
      const pods = await kubelet.pods(namespace);
      return Object.fromEntries(pods.map(({ metadata, spec }) => [metadata.name!, spec.containers[0].image]));
    }

    async function claims(namespace: string): Promise<string[]> {
      const { items } = await engine.client.resource<KubeObject>(PersistentVolumeClaim, namespace).list();
      return items.map(({ metadata }) => metadata.name!).toSorted();
    }

    const settled = (namespace: string, expected: Record<string, string>): Promise<void> =>
      vi.waitFor(async () => {
        await kubelet.runAll(namespace);
        expect(await images(namespace)).toEqual(expected);
        // A status from before the last replacement would also say that all are ready.
        expect((await kubelet.pods(namespace)).map(({ status }) => status?.phase)).not.toContain('Pending');
        const { status } = await sets(namespace).get('db');
        expect(status).toMatchObject({ replicas: Object.keys(expected).length, readyReplicas: Object.keys(expected).length });
      }, WAIT);

    test('Pods come one after the other, each when the one before is ready, and go in reverse', async () => {
      await makeSet('ss-order', { replicas: 3 });
      await vi.waitFor(async () => expect(Object.keys(await images('ss-order'))).toEqual(['db-0']), WAIT);
      const [first] = await kubelet.pods('ss-order');
      expect(first.spec).toMatchObject({ hostname: 'db-0', subdomain: 'db' });
      expect(first.metadata.labels).toMatchObject({
        'statefulset.kubernetes.io/pod-name': 'db-0',
        'apps.kubernetes.io/pod-index': '0',
        'controller-revision-hash': expect.stringMatching(/^db-/),
      });
      await kubelet.run(first);
      await vi.waitFor(async () => expect(Object.keys(await images('ss-order'))).toEqual(['db-0', 'db-1']), WAIT);
      await settled('ss-order', { 'db-0': 'v1', 'db-1': 'v1', 'db-2': 'v1' });
      await vi.waitFor(async () => {
        const { status } = await sets('ss-order').get('db');
        expect(status).toMatchObject({ currentReplicas: 3, updatedReplicas: 3, availableReplicas: 3, collisionCount: 0 });
        expect(status.currentRevision).toBe(status.updateRevision);
      }, WAIT);
      await patch('ss-order', { replicas: 1 });
      await settled('ss-order', { 'db-0': 'v1' });
      await vi.waitFor(async () => {
        const { items } = await engine.client.resource<KubeObject>(Event, 'ss-order').list();
        const notes = items
          .filter(({ regarding, reason }) => regarding.kind === 'StatefulSet' && reason === 'SuccessfulDelete')
          .map(({ note }) => note);
        expect(notes).toEqual(['Delete Pod db-2 in StatefulSet db successful', 'Delete Pod db-1 in StatefulSet db successful']);
      }, WAIT);
    });

    test('Parallel does not wait, and ordinals may start elsewhere', async () => {
      await makeSet('ss-parallel', { replicas: 3, podManagementPolicy: 'Parallel', ordinals: { start: 5 } });
      await vi.waitFor(async () => expect(Object.keys(await images('ss-parallel')).toSorted()).toEqual(['db-5', 'db-6', 'db-7']), WAIT);
    });

    test('a rolling update stops at the partition and goes on below it; the history can bring a template back', async () => {
      const rollingUpdate = (partition: number) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } });
      await makeSet('ss-roll', { replicas: 3, ...rollingUpdate(2) });
      await settled('ss-roll', { 'db-0': 'v1', 'db-1': 'v1', 'db-2': 'v1' });
      await patch('ss-roll', { template: template('v2') });
      await settled('ss-roll', { 'db-0': 'v1', 'db-1': 'v1', 'db-2': 'v2' });
      await vi.waitFor(async () => {
        const { status } = await sets('ss-roll').get('db');
        expect(status.currentRevision).not.toBe(status.updateRevision);
        expect(status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
      }, WAIT);
      await patch('ss-roll', rollingUpdate(0));
      await settled('ss-roll', { 'db-0': 'v2', 'db-1': 'v2', 'db-2': 'v2' });
      await vi.waitFor(async () => {
        const { status: after } = await sets('ss-roll').get('db');
        expect(after.currentRevision).toBe(after.updateRevision);
      }, WAIT);
      const revisions = (await engine.client.resource<KubeObject>(ControllerRevision, 'ss-roll').list()).items;
      await sets('ss-roll').patch('db', { type: 'strategic', patch: revisions.find(({ revision }) => revision === 1)!.data });
      await settled('ss-roll', { 'db-0': 'v1', 'db-1': 'v1', 'db-2': 'v1' });
    });

    test('OnDelete leaves the update to whoever deletes Pods', async () => {
      await makeSet('ss-manual', { replicas: 1, updateStrategy: { type: 'OnDelete' } });
      await settled('ss-manual', { 'db-0': 'v1' });
      await patch('ss-manual', { template: template('v2') });
      await vi.waitFor(async () => expect((await sets('ss-manual').get('db')).status?.observedGeneration).toBe(2), WAIT);
      expect(await images('ss-manual')).toEqual({ 'db-0': 'v1' });
      await kubelet.fail((await kubelet.pods('ss-manual'))[0]);
      await settled('ss-manual', { 'db-0': 'v2' });
    });

    test('claims are made per ordinal and stay by default', async () => {
      await makeSet('ss-claims', { replicas: 2, volumeClaimTemplates });
      await settled('ss-claims', { 'db-0': 'v1', 'db-1': 'v1' });
      expect(await claims('ss-claims')).toEqual(['data-db-0', 'data-db-1']);
      const [pod] = await kubelet.pods('ss-claims');
      expect(pod.spec.volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } });
      await patch('ss-claims', { replicas: 1 });
      await settled('ss-claims', { 'db-0': 'v1' });
      await sets('ss-claims').delete('db', { propagationPolicy: 'Foreground' });
      await vi.waitFor(async () => expect(await kubelet.pods('ss-claims')).toEqual([]), WAIT);
      expect(await claims('ss-claims')).toEqual(['data-db-0', 'data-db-1']);
    });

    test('claims go with scaling and deletion when the retention policy says so', async () => {
      const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' };
      await makeSet('ss-retain', { replicas: 2, volumeClaimTemplates, persistentVolumeClaimRetentionPolicy });
      await settled('ss-retain', { 'db-0': 'v1', 'db-1': 'v1' });
      const claim = async () => (await engine.client.resource<KubeObject>(PersistentVolumeClaim, 'ss-retain').get('data-db-0')).metadata;
      await vi.waitFor(
        async () => expect((await claim()).ownerReferences).toMatchObject([{ kind: 'StatefulSet', controller: true }]),
        WAIT,
      );
      await patch('ss-retain', { replicas: 1 });
      const leaving = async () => {
        const { items } = await engine.client.resource<KubeObject>(PersistentVolumeClaim, 'ss-retain').list();
        return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name);
      };
      await vi.waitFor(async () => expect(await leaving()).toEqual(['data-db-0']), WAIT);
      await sets('ss-retain').delete('db', { propagationPolicy: 'Background' });
      await vi.waitFor(async () => expect(await leaving()).toEqual([]), WAIT);
    });

    test('nothing had to be warned about', () => {
      expect(engine.warnings).toEqual([]);
    });
  });
}
