import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { Event, Job, Namespace } from '../../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { Kubelet } from './kubelet.ts';

/** What the job controller does, on any API server that none other serves. `connect` starts the controllers. */
export function jobSuite(name: string, connect: () => Promise<{ client: Client; warnings: string[] }>): void {
  describe(`job controller on ${name}`, () => {
    const WAIT = { timeout: 5000, interval: 20 };
    const FINALIZER = 'batch.kubernetes.io/job-tracking';
    let engine: { client: Client; warnings: string[] };
    let kubelet: Kubelet;

    beforeAll(async () => {
      engine = await connect();
      kubelet = new Kubelet(engine.client);
    });

    const jobs = (namespace: string) => engine.client.resource<KubeObject>(Job, namespace);

    async function makeJob(namespace: string, spec: Json): Promise<void> {
      await engine.client.resource(Namespace).create({ metadata: { name: namespace } });
      await jobs(namespace).create({
        metadata: { name: 'work' },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }, ...spec },
      });
    }

    const isOpen = ({ status, metadata }: KubeObject): boolean => status?.phase === 'Pending' && metadata.deletionTimestamp === undefined;

    async function openPods(namespace: string, count: number): Promise<KubeObject[]> {
      await vi.waitFor(async () => expect((await kubelet.pods(namespace)).filter(isOpen)).toHaveLength(count), WAIT);
      return (await kubelet.pods(namespace)).filter(isOpen);
    }

    async function conditions(namespace: string): Promise<string[]> {
      const { status } = await jobs(namespace).get('work');
      return (status?.conditions ?? []).filter((one: Json) => one.status === 'True').map((one: Json) => `${one.type} ${one.reason}`);
    }

    const expectConditions = (namespace: string, expected: string[]): Promise<void> =>
      vi.waitFor(async () => expect(await conditions(namespace)).toEqual(expected), WAIT);

    const COMPLETE = ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'];

    test('a Job runs its Pods in parallel until enough succeeded, and counts each once', async () => {
      const namespace = 'j-count';
      await makeJob(namespace, { completions: 3, parallelism: 2 });
      const first = await openPods(namespace, 2);
      expect(first[0].metadata.finalizers).toEqual([FINALIZER]);
      await kubelet.succeed(first[0]);
      const rest = await openPods(namespace, 2);
      for (const pod of rest) await kubelet.succeed(pod);
      await expectConditions(namespace, COMPLETE);
      const { status } = await jobs(namespace).get('work');
      expect(status).toMatchObject({
        succeeded: 3,
        ready: 0,
        terminating: 0,
        uncountedTerminatedPods: {},
        completionTime: expect.any(String),
      });
      expect(status.failed).toBeUndefined();
      const pods = await kubelet.pods(namespace);
      expect(pods).toHaveLength(3);
      expect(pods.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
      await vi.waitFor(async () => {
        const reasons = (await engine.client.resource<KubeObject>(Event, namespace).list()).items.map(({ reason }) => reason);
        expect(reasons.filter((reason) => reason === 'Completed')).toHaveLength(1);
      }, WAIT);
    });

    test('a Job without completions is complete when one succeeded and none runs', async () => {
      const namespace = 'j-queue';
      await makeJob(namespace, { parallelism: 2, completions: undefined });
      const [a, b] = await openPods(namespace, 2);
      await kubelet.succeed(a);
      await kubelet.succeed(b);
      await expectConditions(namespace, COMPLETE);
    });

    test('failures beyond backoffLimit fail the Job and end what still runs', async () => {
      const namespace = 'j-fail';
      await makeJob(namespace, { completions: 2, parallelism: 2, backoffLimit: 0 });
      const [a] = await openPods(namespace, 2);
      await kubelet.fail(a);
      await expectConditions(namespace, ['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
      expect((await jobs(namespace).get('work')).status).toMatchObject({ failed: 2, ready: 0, terminating: 0 });
      await vi.waitFor(async () => {
        expect((await kubelet.pods(namespace)).map(({ status }) => status?.phase)).toEqual(['Failed']);
      }, WAIT);
    });

    test('after a failure the next Pod waits', async () => {
      const namespace = 'j-backoff';
      await makeJob(namespace, {});
      const [pod] = await openPods(namespace, 1);
      await kubelet.fail(pod);
      await vi.waitFor(async () => expect((await jobs(namespace).get('work')).status).toMatchObject({ failed: 1 }), WAIT);
      expect((await kubelet.pods(namespace)).filter(isOpen)).toEqual([]);
    });

    test('an Indexed Job gives every index a Pod and remembers which are complete', async () => {
      const namespace = 'j-indexed';
      await makeJob(namespace, { completions: 3, parallelism: 3, completionMode: 'Indexed' });
      const pods = await openPods(namespace, 3);
      const index = ({ metadata }: KubeObject): string => metadata.annotations!['batch.kubernetes.io/job-completion-index'];
      expect(new Set(pods.map(index))).toEqual(new Set(['0', '1', '2']));
      const one = pods.find((pod) => index(pod) === '1')!;
      expect(one.spec.hostname).toBe('work-1');
      expect(one.metadata.generateName).toBe('work-1-');
      expect(one.spec.containers[0].env).toMatchObject([{ name: 'JOB_COMPLETION_INDEX' }]);
      await kubelet.succeed(one);
      await vi.waitFor(async () => expect((await jobs(namespace).get('work')).status?.completedIndexes).toBe('1'), WAIT);
      for (const pod of pods) if (pod !== one) await kubelet.succeed(pod);
      await expectConditions(namespace, COMPLETE);
      expect((await jobs(namespace).get('work')).status).toMatchObject({ completedIndexes: '0-2', succeeded: 3 });
    });

    test('indexes fail on their own with backoffLimitPerIndex', async () => {
      const namespace = 'j-per-index';
      await makeJob(namespace, { completions: 2, parallelism: 2, completionMode: 'Indexed', backoffLimitPerIndex: 0 });
      const [a, b] = await openPods(namespace, 2);
      await kubelet.fail(a);
      await kubelet.succeed(b);
      await expectConditions(namespace, ['FailureTarget FailedIndexes', 'Failed FailedIndexes']);
      const failed = a.metadata.annotations!['batch.kubernetes.io/job-completion-index'];
      expect((await jobs(namespace).get('work')).status).toMatchObject({ failedIndexes: failed, succeeded: 1, failed: 1 });
    });

    test('a success policy ends the Job early', async () => {
      const namespace = 'j-success';
      const successPolicy = { rules: [{ succeededIndexes: '0' }] };
      await makeJob(namespace, { completions: 2, parallelism: 2, completionMode: 'Indexed', successPolicy });
      const pods = await openPods(namespace, 2);
      await kubelet.succeed(pods.find(({ metadata }) => metadata.annotations!['batch.kubernetes.io/job-completion-index'] === '0')!);
      await expectConditions(namespace, ['SuccessCriteriaMet SuccessPolicy', 'Complete SuccessPolicy']);
    });

    test('a failure policy fails the Job at once, or does not count', async () => {
      const namespace = 'j-policy';
      const rules = [
        { action: 'Ignore', onExitCodes: { operator: 'In', values: [3] } },
        { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
      ];
      await makeJob(namespace, { completions: 2, parallelism: 2, podFailurePolicy: { rules } });
      const [a, b] = await openPods(namespace, 2);
      await kubelet.fail(a, 3);
      await kubelet.fail(b, 42);
      await expectConditions(namespace, ['FailureTarget PodFailurePolicy', 'Failed PodFailurePolicy']);
      const { status } = await jobs(namespace).get('work');
      expect(status.conditions[0].message).toBe(
        `Container c for pod ${namespace}/${b.metadata.name} failed with exit code 42 matching FailJob rule at index 1`,
      );
      expect(status.failed).toBe(1);
    });

    test('activeDeadlineSeconds ends a Job that takes too long', async () => {
      const namespace = 'j-deadline';
      await makeJob(namespace, { activeDeadlineSeconds: 2 });
      await openPods(namespace, 1);
      await expectConditions(namespace, ['FailureTarget DeadlineExceeded', 'Failed DeadlineExceeded']);
    });

    test('a suspended Job has no Pods, and starts anew when it is resumed', async () => {
      const namespace = 'j-suspend';
      await makeJob(namespace, { suspend: true });
      await expectConditions(namespace, ['Suspended JobSuspended']);
      expect(await kubelet.pods(namespace)).toEqual([]);
      await jobs(namespace).patch('work', { type: 'merge', patch: { spec: { suspend: false } } });
      const [pod] = await openPods(namespace, 1);
      await jobs(namespace).patch('work', { type: 'merge', patch: { spec: { suspend: true } } });
      await vi.waitFor(async () => expect(await kubelet.pods(namespace)).toEqual([]), WAIT);
      expect((await jobs(namespace).get('work')).status?.failed).toBeUndefined();
      await jobs(namespace).patch('work', { type: 'merge', patch: { spec: { suspend: false } } });
      const [again] = await openPods(namespace, 1);
      expect(again.metadata.uid).not.toBe(pod.metadata.uid);
    });

    test('Pods of a deleted Job go, finalizer or not', async () => {
      const namespace = 'j-delete';
      await makeJob(namespace, { parallelism: 2 });
      await openPods(namespace, 2);
      await jobs(namespace).delete('work', { propagationPolicy: 'Background' });
      await vi.waitFor(async () => expect(await kubelet.pods(namespace)).toEqual([]), WAIT);
    });

    test('nothing had to be warned about', () => {
      expect(engine.warnings).toEqual([]);
    });
  });
}
