import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Json } from '../../../src/kube/object.ts';
import type { ApiTarget } from '../../support/api-target.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';

const RUNS = '/apis/kruntimes.io/v1alpha1/namespaces/default/runs';
const RUNTIMES = '/apis/kruntimes.io/v1alpha1/namespaces/default/runtimes';
const task = { runtime: 'bash', mode: { task: { args: ['true'] } } };
const runtimeContainer = { name: 'runtime', image: 'example/bash:1' };

const refusedRuns: [string, Json, string][] = [
  ['without a mode', { runtime: 'bash' }, 'spec.mode: Required value'],
  ['without a runtime', { mode: { task: {} } }, 'spec.runtime: Required value'],
  ['with two modes', { runtime: 'bash', mode: { task: {}, function: {} } }, 'exactly one of task or function must be set'],
  ['with no mode in mode', { runtime: 'bash', mode: {} }, 'exactly one of task or function must be set'],
  ['with a runtime that is no name', { ...task, runtime: '-bash' }, 'spec.runtime: Invalid value'],
  ['with two sources', { ...task, source: { inline: 'x', repoURL: 'https://h/r' } }, 'inline and repoURL are mutually exclusive'],
  ['with a commit and no repository', { ...task, source: { commitSHA: 'abc' } }, 'commitSHA requires repoURL'],
  [
    'with an absolute entrypoint',
    { runtime: 'bash', mode: { task: { entrypoint: '/etc/passwd' } } },
    'mode.task.entrypoint must be a relative path',
  ],
  [
    'with an entrypoint that climbs',
    { runtime: 'bash', mode: { task: { entrypoint: 'a/../../b' } } },
    'mode.task.entrypoint must be a relative path',
  ],
  ['with an inlinePath in task mode', { ...task, source: { inline: 'x', inlinePath: 'a.py' } }, 'source.inlinePath is only supported'],
  [
    'with a function and no inlinePath',
    { runtime: 'python', mode: { function: { handler: 'a.b' } }, source: { inline: 'x' } },
    'source.inlinePath is required',
  ],
  ['with 101 attempts', { ...task, retryPolicy: { maxAttempts: 101 } }, 'spec.retryPolicy.maxAttempts'],
  [
    'with an affinity to anything',
    {
      ...task,
      affinity: {
        runAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {}, topologyKey: 'kruntimes.io/runtime-pod' }],
        },
      },
    },
    'labelSelector must not be empty',
  ],
];

const refusedRuntimes: [string, Json, string][] = [
  ['without a template', {}, 'spec.template: Required value'],
  [
    'whose first container has another name',
    { template: { spec: { containers: [{ ...runtimeContainer, name: 'main' }] } } },
    'the first container must be named "runtime"',
  ],
  [
    'whose Pods are not restarted',
    { template: { spec: { containers: [runtimeContainer], restartPolicy: 'Never' } } },
    'restartPolicy must be Always',
  ],
  [
    'with an artifact store without its block',
    { template: { spec: { containers: [runtimeContainer] } }, artifactStore: { driver: 's3' } },
    'exactly the block of the driver must be set',
  ],
];

/** The kinds of the runs area as an API server sees them: the same answers from every server. */
export function runKindsSuite(name: string, start: () => Promise<ApiTarget>): void {
  describe(`Run and Runtime on ${name}`, () => {
    let target: ApiTarget;
    beforeAll(async () => {
      target = await start();
      for (const definition of ownCustomResourceDefinitions()) {
        const { status, body } = await target.request(
          'POST',
          '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict',
          definition,
        );
        expect(body, JSON.stringify(body.message)).toMatchObject({ kind: 'CustomResourceDefinition' });
        expect(status).toBe(201);
      }
      // Both are served a moment after their definitions are stored.
      await vi.waitFor(
        async () => {
          for (const path of [RUNS, RUNTIMES]) expect((await target.request('GET', path)).status).toBe(200);
        },
        { timeout: 15_000 },
      );
    }, 120_000);
    afterAll(() => target?.close());

    const run = (own: string, spec: Json) => ({ apiVersion: 'kruntimes.io/v1alpha1', kind: 'Run', metadata: { name: own }, spec });
    const runtime = (own: string, spec: Json) => ({ apiVersion: 'kruntimes.io/v1alpha1', kind: 'Runtime', metadata: { name: own }, spec });
    const merge = { contentType: 'application/merge-patch+json' };

    it('a Run is stored as it was written, without a status', async () => {
      const { status, body } = await target.request('POST', RUNS, run('plain', task));
      expect(status).toBe(201);
      expect(body.spec).toEqual(task);
      expect(body.status).toBeUndefined();
    });

    it.each(refusedRuns)('a Run is refused %s', async (_case, spec, message) => {
      const { status, body } = await target.request('POST', RUNS, run('refused', spec));
      expect(status).toBe(422);
      expect(body.message).toContain(message);
    });

    it('an entrypoint is not looked at when the source is inline', async () => {
      const spec = { runtime: 'bash', mode: { task: { entrypoint: '../x' } }, source: { inline: 'true' } };
      expect((await target.request('POST', RUNS, run('inline-entrypoint', spec))).status).toBe(201);
    });

    it('a Run keeps what it runs, and may be cancelled once and for all', async () => {
      await target.request('POST', RUNS, run('fixed', { ...task, retryPolicy: { maxAttempts: 2 } }));
      const refused = await target.request('PATCH', `${RUNS}/fixed`, { spec: { timeout: '3s' } }, merge);
      expect(refused.body.message).toContain(
        'runtime, source, mode, env, timeout, retryPolicy, and resources are immutable after Run creation',
      );
      expect((await target.request('PATCH', `${RUNS}/fixed`, { spec: { cancelRequested: true } }, merge)).status).toBe(200);
      const undone = await target.request('PATCH', `${RUNS}/fixed`, { spec: { cancelRequested: false } }, merge);
      expect(undone.body.message).toContain('cancelRequested may not transition from true to false');
      expect((await target.request('PATCH', `${RUNS}/fixed`, { spec: { ttlSecondsAfterFinished: 60 } }, merge)).status).toBe(200);
    });

    const values: Record<string, [Json, Json]> = {
      source: [{ inline: 'true' }, { inline: 'false' }],
      env: [[{ name: 'A', value: '1' }], [{ name: 'A', value: '2' }]],
      timeout: ['1s', '2s'],
      retryPolicy: [{ maxAttempts: 2 }, { maxAttempts: 3 }],
      resources: [{ requests: { runs: 1 } }, { requests: { runs: 2 } }],
      workspace: [{ name: 'one' }, { name: 'two' }],
      affinity: [{ runAffinity: {} }, { runAntiAffinity: {} }],
    };
    it.each(Object.entries(values))('the %s of a Run is neither added, changed nor taken away', async (field, [value, other]) => {
      const name = `fixed-${field.toLowerCase()}`;
      await target.request('POST', RUNS, run(`${name}-without`, task));
      expect((await target.request('POST', RUNS, run(name, { ...task, [field]: value }))).status).toBe(201);
      const attempts = [
        [`${name}-without`, value],
        [name, other],
        [name, null],
      ];
      for (const [of, wanted] of attempts) {
        const { status, body } = await target.request('PATCH', `${RUNS}/${of}`, { spec: { [field]: wanted } }, merge);
        expect([status, body.message]).toEqual([422, expect.stringContaining('immutable after Run creation')]);
      }
      expect((await target.request('PATCH', `${RUNS}/${name}`, { spec: { [field]: value, priority: 3 } }, merge)).status).toBe(200);
    });

    it('Runs are selected by the Pod they are assigned to', async () => {
      await target.request('POST', RUNS, run('assigned', task));
      await target.request('PATCH', `${RUNS}/assigned/status`, { status: { phase: 'Scheduled', assignedPod: 'pod-7' } }, merge);
      const { body } = await target.request('GET', `${RUNS}?fieldSelector=status.assignedPod%3Dpod-7`);
      expect(body.items.map((item: Json) => item.metadata.name)).toEqual(['assigned']);
    });

    it('a Runtime gets its defaults', async () => {
      const { status, body } = await target.request(
        'POST',
        RUNTIMES,
        runtime('bash', { template: { metadata: { labels: { team: 'a' } }, spec: { containers: [runtimeContainer] } } }),
      );
      expect(body.message).toBeUndefined();
      expect(status).toBe(201);
      expect(body.spec).toMatchObject({ port: 9091, replicas: 1, drainSeconds: 300, template: { metadata: { labels: { team: 'a' } } } });
    });

    it.each(refusedRuntimes)('a Runtime is refused %s', async (_case, spec, message) => {
      const { status, body } = await target.request('POST', RUNTIMES, runtime('refused', spec));
      expect(status).toBe(422);
      expect(body.message).toContain(message);
    });

    it('both are shown with the columns of the original', async () => {
      const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
      const columns = async (path: string) =>
        (await target.request('GET', path, undefined, { headers })).body.columnDefinitions.map((column: Json) => column.name);
      expect(await columns(RUNS)).toEqual(['Name', 'Phase', 'Assigned Pod', 'Runtime', 'Age']);
      expect(await columns(RUNTIMES)).toEqual(['Name', 'Image', 'Replicas', 'Ready', 'Age']);
    });
  });
}
