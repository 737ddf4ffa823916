import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import {
  CronJob,
  DaemonSet,
  Deployment,
  Event,
  Job,
  Namespace,
  Node,
  Pod,
  PodDisruptionBudget,
  StatefulSet,
} from '../../../src/client/kinds.ts';
import type { Kind } from '../../../src/kube/kind.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { Kubelet } from './kubelet.ts';

const WAIT = { timeout: 10_000, interval: 50 };

/** What controllers tell in events, to the letter, on any API server with any controllers that `connect` starts. */
export function eventsSuite(name: string, connect: () => Promise<{ client: Client }>): void {
  describe(`events of controllers on ${name}`, () => {
    let client: Client;
    let kubelet: Kubelet;
    beforeAll(async () => {
      ({ client } = await connect());
      kubelet = new Kubelet(client);
    });

    const spec: Json = { containers: [{ name: 'c', image: 'i' }] };
    const selector = { matchLabels: { app: 'web' } };
    const template = (image = 'i', more: Json = {}): Json => ({
      metadata: { labels: { app: 'web' } },
      spec: { ...spec, containers: [{ name: 'c', image }], ...more },
    });

    async function make(namespace: string, kind: Kind, body: Json): Promise<void> {
      await client
        .resource(Namespace)
        .create({ metadata: { name: namespace } })
        .catch(() => {});
      await client.resource<KubeObject>(kind, namespace).create({ metadata: { name: 'web' }, spec: body });
    }

    /** As `controller type reason: note`, names that were made up replaced, without those about volumes. */
    async function told(namespace: string): Promise<string[]> {
      const { items } = await client.resource<KubeObject>(Event, namespace).listAll();
      const controllerOf = (event: KubeObject): string => event.deprecatedSource?.component || event.reportingController;
      const own = items.filter((event) => controllerOf(event) !== 'persistentvolume-controller');
      const lines = own.map((event) => withoutNames(`${controllerOf(event)} ${event.type} ${event.reason}: ${event.note}`));
      return [...new Set(lines)].sort();
    }

    const expectTold = (namespace: string, expected: string[]): Promise<void> =>
      vi.waitFor(async () => expect(await told(namespace)).toEqual(expected), WAIT);
    const run = (namespace: string, count: number): Promise<void> =>
      vi.waitFor(async () => {
        await kubelet.runAll(namespace);
        expect((await kubelet.pods(namespace)).filter(({ status }) => status.phase === 'Running')).toHaveLength(count);
      }, WAIT);
    test('Deployment', async () => {
      await make('ev-deployment', Deployment, { replicas: 2, selector, template: template() });
      await run('ev-deployment', 2);
      const deployments = client.resource<KubeObject>(Deployment, 'ev-deployment');
      await deployments.patch('web', { type: 'merge', patch: { spec: { template: template('j') } } });
      await vi.waitFor(async () => {
        await kubelet.runAll('ev-deployment');
        const { metadata, status } = await deployments.get('web');
        const observedGeneration = metadata.generation;
        expect(status).toMatchObject({ observedGeneration, updatedReplicas: 2, replicas: 2, availableReplicas: 2 });
      }, WAIT);
      await expectTold('ev-deployment', [
        'deployment-controller Normal ScalingReplicaSet: Scaled down replica set web-HASH from 1 to 0',
        'deployment-controller Normal ScalingReplicaSet: Scaled down replica set web-HASH from 2 to 1',
        'deployment-controller Normal ScalingReplicaSet: Scaled up replica set web-HASH from 0 to 1',
        'deployment-controller Normal ScalingReplicaSet: Scaled up replica set web-HASH from 0 to 2',
        'deployment-controller Normal ScalingReplicaSet: Scaled up replica set web-HASH from 1 to 2',
        'replicaset-controller Normal SuccessfulCreate: Created pod: web-HASH-POD',
        'replicaset-controller Normal SuccessfulDelete: Deleted pod: web-HASH-POD',
      ]);
    });

    test('StatefulSet', async () => {
      const volumeClaimTemplates = [
        { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      ];
      await make('ev-stateful', StatefulSet, {
        replicas: 2,
        serviceName: 'web',
        selector,
        template: template(),
        volumeClaimTemplates,
        persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
      });
      await run('ev-stateful', 2);
      await client.resource<KubeObject>(StatefulSet, 'ev-stateful').patch('web', { type: 'merge', patch: { spec: { replicas: 1 } } });
      await vi.waitFor(async () => expect(await kubelet.pods('ev-stateful')).toHaveLength(1), WAIT);
      const [pod] = await kubelet.pods('ev-stateful');
      await kubelet.fail(pod);
      await vi.waitFor(async () => expect((await kubelet.pods('ev-stateful'))[0]?.metadata.uid).not.toBe(pod.metadata.uid), WAIT);
      await expectTold('ev-stateful', [
        'statefulset-controller Normal SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web success',
        'statefulset-controller Normal SuccessfulCreate: Create Claim data-web-1 Pod web-1 in StatefulSet web success',
        'statefulset-controller Normal SuccessfulCreate: Create Pod web-0 in StatefulSet web successful',
        'statefulset-controller Normal SuccessfulCreate: Create Pod web-1 in StatefulSet web successful',
        'statefulset-controller Normal SuccessfulDelete: Delete Pod web-0 in StatefulSet web successful',
        'statefulset-controller Normal SuccessfulDelete: Delete Pod web-1 in StatefulSet web successful',
      ]);
    });

    test('DaemonSet', async () => {
      await client.resource<KubeObject>(Node).create({ metadata: { name: 'ev-node', labels: { pool: 'events' } } });
      await client.resource<KubeObject>(Node).patch('ev-node', { type: 'merge', patch: { spec: { taints: null } } });
      await make('ev-daemon', DaemonSet, { selector, template: template('i', { nodeSelector: { pool: 'events' } }) });
      await run('ev-daemon', 1);
      const [pod] = await kubelet.pods('ev-daemon');
      await kubelet.fail(pod);
      await vi.waitFor(async () => expect((await kubelet.pods('ev-daemon'))[0]?.metadata.uid).not.toBe(pod.metadata.uid), WAIT);
      await expectTold('ev-daemon', [
        'daemonset-controller Normal SuccessfulCreate: Created pod: web-POD',
        'daemonset-controller Normal SuccessfulDelete: Deleted pod: web-POD',
        'daemonset-controller Warning FailedDaemonPod: Found failed daemon pod ev-daemon/web-POD on node ev-node, will try to kill it',
      ]);
    });

    test('Job', async () => {
      await make('ev-job', Job, { completions: 1, template: template('i', { restartPolicy: 'Never' }) });
      const [pod] = await vi.waitFor(async () => {
        const pods = await kubelet.pods('ev-job');
        expect(pods).toHaveLength(1);
        return pods;
      }, WAIT);
      await kubelet.succeed(pod);
      await vi.waitFor(async () => expect((await client.resource<KubeObject>(Job, 'ev-job').get('web')).status.succeeded).toBe(1), WAIT);
      await expectTold('ev-job', [
        'job-controller Normal Completed: Job completed',
        'job-controller Normal SuccessfulCreate: Created pod: web-POD',
      ]);
    });

    test('Job that fails', async () => {
      await make('ev-failed', Job, { backoffLimit: 0, template: template('i', { restartPolicy: 'Never' }) });
      const [pod] = await vi.waitFor(async () => {
        const pods = await kubelet.pods('ev-failed');
        expect(pods).toHaveLength(1);
        return pods;
      }, WAIT);
      await kubelet.fail(pod);
      await vi.waitFor(
        async () => expect((await client.resource<KubeObject>(Job, 'ev-failed').get('web')).status.conditions).toBeDefined(),
        WAIT,
      );
      await expectTold('ev-failed', [
        'job-controller Normal SuccessfulCreate: Created pod: web-POD',
        'job-controller Warning BackoffLimitExceeded: Job has reached the specified backoff limit',
      ]);
    });

    test('Job that is suspended and resumed', async () => {
      const jobs = client.resource<KubeObject>(Job, 'ev-suspended');
      await make('ev-suspended', Job, { suspend: true, template: template('i', { restartPolicy: 'Never' }) });
      await vi.waitFor(async () => expect((await jobs.get('web')).status.conditions).toBeDefined(), WAIT);
      await jobs.patch('web', { type: 'merge', patch: { spec: { suspend: false } } });
      await vi.waitFor(async () => expect(await kubelet.pods('ev-suspended')).toHaveLength(1), WAIT);
      await jobs.patch('web', { type: 'merge', patch: { spec: { suspend: true } } });
      await vi.waitFor(async () => expect(await kubelet.pods('ev-suspended')).toHaveLength(0), WAIT);
      await expectTold('ev-suspended', [
        'job-controller Normal Resumed: Job resumed',
        'job-controller Normal SuccessfulCreate: Created pod: web-POD',
        'job-controller Normal SuccessfulDelete: Deleted pod: web-POD',
        'job-controller Normal Suspended: Job suspended',
      ]);
    });

    test('CronJob', async () => {
      const jobTemplate = { spec: { template: template('i', { restartPolicy: 'Never' }) } };
      await make('ev-cron', CronJob, { schedule: '* * * * *', startingDeadlineSeconds: 200, jobTemplate });
      await client.resource<KubeObject>(CronJob, 'ev-cron').status.patch('web', {
        type: 'merge',
        patch: { status: { lastScheduleTime: new Date(Date.now() - 120_000).toISOString().replace(/\.\d+/, '') } },
      });
      const [pod] = await vi.waitFor(
        async () => {
          const pods = await kubelet.pods('ev-cron');
          expect(pods.length).toBeGreaterThan(0);
          return pods;
        },
        { timeout: 15_000, interval: 100 },
      );
      await kubelet.succeed(pod);
      await expectTold('ev-cron', [
        'cronjob-controller Normal SawCompletedJob: Saw completed job: web-TIME, condition: Complete',
        'cronjob-controller Normal SuccessfulCreate: Created job web-TIME',
        'job-controller Normal Completed: Job completed',
        'job-controller Normal SuccessfulCreate: Created pod: web-HASH-POD',
      ]);
    });

    test('PodDisruptionBudget', async () => {
      await make('ev-budget', PodDisruptionBudget, { minAvailable: 1, selector });
      await expectTold('ev-budget', ['controllermanager Normal NoPods: No matching pods found']);
      await client.resource<KubeObject>(Pod, 'ev-budget').create({ metadata: { name: 'web', labels: { app: 'web' } }, spec });
      await client
        .resource<KubeObject>(PodDisruptionBudget, 'ev-budget')
        .create({ metadata: { name: 'web2' }, spec: { maxUnavailable: 1, selector } });
      await expectTold('ev-budget', [
        'controllermanager Normal NoPods: No matching pods found',
        'controllermanager Warning UnmanagedPods: Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
      ]);
    });
  });
}

function withoutNames(line: string): string {
  return line
    .replaceAll(/web-[a-z0-9]{8,10}-[a-z0-9]{5}\b/g, 'web-HASH-POD')
    .replaceAll(/web-[a-z0-9]{9,10}\b/g, 'web-HASH')
    .replaceAll(/web(-\d+)?-[a-z0-9]{5}\b/g, 'web$1-POD')
    .replaceAll(/web-\d{8}/g, 'web-TIME');
}
