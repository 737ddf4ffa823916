import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { Deployment, Event, Namespace, ReplicaSet } from '../../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { Kubelet } from './kubelet.ts';

/** What the deployment controller does, on any API server that none other serves. `connect` starts the controllers. */
export function deploymentSuite(
  name: string,
  connect: () => Promise<{ client: Client; warnings: string[] }>,
  /** kube-controller-manager counts Pods that are about to go as available, and may have one too few for a moment. */
  options: { mayHaveOneFewer?: boolean } = {},
): void {
  describe(`deployment controller on ${name}`, () => {
    const WAIT = { timeout: 8000, interval: 20 };
    let engine: { client: Client; warnings: string[] };
    let kubelet: Kubelet;

    beforeAll(async () => {
      engine = await connect();
      kubelet = new Kubelet(engine.client);
    });

    const deployments = (namespace: string) => engine.client.resource<KubeObject>(Deployment, namespace);
    const template = (image: string) => ({ metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } });
    const setImage = (namespace: string, image: string) =>
      deployments(namespace).patch('web', { type: 'merge', patch: { spec: { template: template(image) } } });

    async function makeDeployment(namespace: string, spec: Json): Promise<void> {
      await engine.client.resource(Namespace).create({ metadata: { name: namespace } });
      await deployments(namespace).create({
        metadata: { name: 'web', annotations: { team: 'blue' } },
        spec: { selector: { matchLabels: { app: 'web' } }, template: template('v1'), ...spec },
      });
    }

    async function sets(namespace: string): Promise<KubeObject[]> {
      const { items } = await engine.client.resource<KubeObject>(ReplicaSet, namespace).list();
      const revision = ({ metadata }: KubeObject): number => Number(metadata.annotations?.['deployment.kubernetes.io/revision']);
      return [...items].sort((a, b) => revision(a) - revision(b));
    }

    const images = async (namespace: string): Promise<string[]> =>
      (await kubelet.pods(namespace)).map(({ spec }) => spec.containers[0].image as string).sort((a, b) => (a < b ? -1 : 1));

    function condition(deployment: KubeObject, type: string): Json {
      return (deployment.status?.conditions ?? []).find((one: Json) => one.type === type);
    }

    async function complete(namespace: string, image: string, replicas: number): Promise<KubeObject> {
      await vi.waitFor(async () => {
        await kubelet.runAll(namespace);
        expect(await images(namespace)).toEqual(Array.from({ length: replicas }, () => image));
        expect((await kubelet.pods(namespace)).map(({ status }) => status?.phase)).not.toContain('Pending');
        const deployment = await deployments(namespace).get('web');
        expect(condition(deployment, 'Progressing')).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
        expect(deployment.status).toMatchObject({ availableReplicas: replicas, updatedReplicas: replicas, replicas });
        expect(deployment.status.observedGeneration).toBe(deployment.metadata.generation);
      }, WAIT);
      return deployments(namespace).get('web');
    }

    test('a Deployment makes a ReplicaSet named by its template and reports availability', async () => {
      const namespace = 'd-make';
      await makeDeployment(namespace, { replicas: 2 });
      await vi.waitFor(async () => {
        const deployment = await deployments(namespace).get('web');
        expect(condition(deployment, 'Available')).toMatchObject({ status: 'False', reason: 'MinimumReplicasUnavailable' });
        expect(condition(deployment, 'Progressing')).toMatchObject({ status: 'True' });
      }, WAIT);
      const deployment = await complete(namespace, 'v1', 2);
      const [set] = await sets(namespace);
      const hash = set.metadata.labels?.['pod-template-hash'];
      expect(set.metadata).toMatchObject({
        name: `web-${hash}`,
        annotations: {
          team: 'blue',
          'deployment.kubernetes.io/revision': '1',
          'deployment.kubernetes.io/desired-replicas': '2',
          'deployment.kubernetes.io/max-replicas': '3',
        },
      });
      expect(deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
      expect(condition(deployment, 'Available')).toMatchObject({ status: 'True', reason: 'MinimumReplicasAvailable' });
      expect(condition(deployment, 'Progressing').message).toBe(`ReplicaSet "${set.metadata.name}" has successfully progressed.`);
      const notes = (await engine.client.resource<KubeObject>(Event, namespace).list()).items.map(({ note }) => note);
      expect(notes).toContain(`Scaled up replica set ${set.metadata.name} from 0 to 2`);
    });

    test('a rolling update never has fewer available nor more Pods than allowed, and a rollback reuses the old set', async () => {
      const namespace = 'd-roll';
      await makeDeployment(namespace, { replicas: 4, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
      await complete(namespace, 'v1', 4);
      await setImage(namespace, 'v2');
      const broken: string[] = [];
      await vi.waitFor(async () => {
        const pods = await kubelet.pods(namespace);
        const ready = pods.filter(({ status }) => status?.phase === 'Running').length;
        if (pods.length > 5 || ready < (options.mayHaveOneFewer ? 2 : 3)) broken.push(`${pods.length} Pods, ${ready} ready`);
        const waiting = pods.find(({ status }) => status?.phase === 'Pending');
        if (waiting) await kubelet.run(waiting).catch(() => {});
        expect(await images(namespace)).toEqual(['v2', 'v2', 'v2', 'v2']);
      }, WAIT);
      expect(broken).toEqual([]);
      await complete(namespace, 'v2', 4);
      // What `kubectl rollout undo` writes.
      await setImage(namespace, 'v1');
      const deployment = await complete(namespace, 'v1', 4);
      const all = await sets(namespace);
      expect(all).toHaveLength(2);
      expect(all[1].metadata.annotations).toMatchObject({
        'deployment.kubernetes.io/revision': '3',
        'deployment.kubernetes.io/revision-history': '1',
      });
      expect(deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('3');
    });

    test('Recreate starts nothing new before everything old is gone', async () => {
      const namespace = 'd-recreate';
      await makeDeployment(namespace, { replicas: 2, strategy: { type: 'Recreate' } });
      await complete(namespace, 'v1', 2);
      await setImage(namespace, 'v2');
      await complete(namespace, 'v2', 2);
    });

    test('a paused Deployment scales but does not roll out, until it is resumed', async () => {
      const namespace = 'd-pause';
      await makeDeployment(namespace, { replicas: 1 });
      await complete(namespace, 'v1', 1);
      await deployments(namespace).patch('web', {
        type: 'merge',
        patch: { spec: { paused: true, replicas: 2, template: template('v2') } },
      });
      await vi.waitFor(async () => {
        expect(await images(namespace)).toEqual(['v1', 'v1']);
        expect(condition(await deployments(namespace).get('web'), 'Progressing')).toMatchObject({
          status: 'Unknown',
          reason: 'DeploymentPaused',
        });
      }, WAIT);
      await deployments(namespace).patch('web', { type: 'merge', patch: { spec: { paused: false } } });
      await complete(namespace, 'v2', 2);
    });

    test('a rollout that gets nowhere exceeds its deadline and says so', async () => {
      const namespace = 'd-stuck';
      await makeDeployment(namespace, { replicas: 1, progressDeadlineSeconds: 1 });
      await vi.waitFor(async () => {
        expect(condition(await deployments(namespace).get('web'), 'Progressing')).toMatchObject({
          status: 'False',
          reason: 'ProgressDeadlineExceeded',
          message: expect.stringMatching(/^ReplicaSet "web-\w+" has timed out progressing\.$/),
        });
      }, WAIT);
    });

    test('old ReplicaSets beyond revisionHistoryLimit go', async () => {
      const namespace = 'd-history';
      await makeDeployment(namespace, { replicas: 1, revisionHistoryLimit: 1 });
      for (const image of ['v1', 'v2', 'v3']) {
        await setImage(namespace, image);
        await complete(namespace, image, 1);
      }
      await vi.waitFor(async () => {
        const revisions = (await sets(namespace)).map(({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision']);
        expect(revisions).toEqual(['2', '3']);
      }, WAIT);
    });

    test('nothing had to be warned about', () => {
      expect(engine.warnings).toEqual([]);
    });
  });
}
