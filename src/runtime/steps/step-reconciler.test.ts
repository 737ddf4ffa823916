import { expect, test } from 'vitest';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { createClient } from '../../client/client.ts';
import { createInMemoryTransport } from '../../client/in-memory/in-memory-transport.ts';
import type { Kind } from '../../kube/kind.ts';
import type { KubeObject } from '../../kube/object.ts';
import { FakeClock } from '../../lib/clock-fake.ts';
import { silentLog } from '../../lib/log.ts';
import { MetricsRegistry } from '../../lib/metrics.ts';
import { Controller } from '../controller.ts';
import { SharedInformers } from '../informer/shared-informers.ts';
import { done, waiting } from './outcome.ts';
import type { Step } from './run-steps.ts';
import { stepReconciler } from './step-reconciler.ts';

const Thing: Kind = { group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
const FINALIZER = 'example.com/thing';

function start(
  steps: Step[],
  teardown: Step[] = [],
): {
  api: FakeApi;
  clock: FakeClock;
  controller: Controller;
  metrics: MetricsRegistry;
  thing: () => KubeObject | undefined;
  writes: () => string[];
  rounds: { summarised: number; written: number };
} {
  const rounds = { summarised: 0, written: 0 };
  const api = new FakeApi();
  const clock = new FakeClock();
  const metrics = new MetricsRegistry();
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const informer = new SharedInformers({ client, log: silentLog }).get(Thing);
  const reconcile = stepReconciler({
    clock,
    read: (key) => informer.get(key),
    resource: (namespace) => client.resource(Thing, namespace),
    fieldManager: 'test',
    finalizer: FINALIZER,
    steps,
    teardown,
    summarise: () => void rounds.summarised++,
    written: () => void rounds.written++,
  });
  const controller = new Controller({ name: 'thing', clock, log: silentLog, metrics, reconcile }).watch(informer).start();
  return {
    api,
    clock,
    controller,
    metrics,
    rounds,
    thing: () => api.get('things', 'x', 'a'),
    writes: () =>
      api.requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path.split('/').slice(6).join('/')}`),
  };
}

const aThing = (): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'x' },
  spec: { size: 1 },
});

test('the finalizer is written before the first step runs, then the status once', async () => {
  const { api, clock, thing, writes, metrics } = start([
    {
      name: 'Made',
      run(draft) {
        expect(thing()?.metadata.finalizers).toEqual([FINALIZER]);
        draft.status = { ...draft.status, size: draft.spec.size };
        return done();
      },
    },
  ]);
  api.put(aThing(), 'things');
  await clock.advance(0);
  expect(writes()).toEqual(['PATCH things/a', 'PATCH things/a/status']);
  expect(thing()?.status).toMatchObject({
    size: 1,
    observedGeneration: 1,
    conditions: [{ type: 'Made' }, { type: 'Ready', status: 'True' }],
  });
  expect(metrics.expose()).toContain('tenantry_controller_step_total{controller="thing",step="Made",outcome="done"}');
});

test('nothing is written when nothing changed', async () => {
  const { api, clock, controller, writes } = start([{ name: 'Made', run: () => done() }]);
  api.put(aThing(), 'things');
  await clock.advance(0);
  const before = writes().length;
  controller.queue.add('x/a');
  await clock.advance(0);
  expect(writes()).toHaveLength(before);
});

test('a step can change the status of its draft and nothing else', async () => {
  const { api, clock, thing } = start([
    {
      name: 'Made',
      run(draft) {
        draft.spec.size = 2;
        return done();
      },
    },
  ]);
  api.put(aThing(), 'things');
  await clock.advance(1);
  expect(thing()?.status.conditions[0]).toMatchObject({ status: 'False', reason: 'Error', message: expect.stringContaining('read only') });
});

test('waiting with a time comes again then', async () => {
  const due = Date.parse('2026-01-01T00:00:30Z');
  const { api, clock, thing } = start([
    { name: 'Made', run: (_draft, { now }) => (now() < due ? waiting('NotYet', 'soon', due - now()) : done()) },
  ]);
  api.put(aThing(), 'things');
  await clock.advance(29_999);
  expect(thing()?.status.conditions.at(-1)).toMatchObject({ type: 'Ready', status: 'False', reason: 'NotYet' });
  await clock.advance(1);
  expect(thing()?.status.conditions.at(-1)).toMatchObject({ type: 'Ready', status: 'True' });
});

test('a conflict is tried again without a condition, and told only when it is written', async () => {
  let first = true;
  const { api, clock, thing, rounds } = start([
    {
      name: 'Made',
      run() {
        if (first) api.put({ ...thing()!, metadata: { ...thing()!.metadata, labels: { by: 'another' } } }, 'things');
        first = false;
        return done();
      },
    },
  ]);
  api.put(aThing(), 'things');
  await clock.advance(1000);
  expect(thing()?.metadata.labels).toEqual({ by: 'another' });
  expect(rounds.written).toBe(rounds.summarised - 1);
  expect(thing()?.status.conditions.at(-1)).toMatchObject({ type: 'Ready', status: 'True' });
});

test('teardown runs instead of the steps when the object is deleted, and the finalizer goes when it is done', async () => {
  let blocked = true;
  const order: string[] = [];
  const { api, clock, controller, thing } = start(
    [{ name: 'Made', run: () => done() }],
    [
      {
        name: 'Emptied',
        run() {
          order.push('Emptied');
          return blocked ? waiting('NotEmpty', '2 left') : done();
        },
      },
    ],
  );
  api.put(aThing(), 'things');
  await clock.advance(0);
  api.put({ ...thing()!, metadata: { ...thing()!.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }, 'things');
  await clock.advance(0);
  expect(thing()?.status.conditions.find((c: { type: string }) => c.type === 'Ready')).toMatchObject({
    status: 'False',
    reason: 'NotEmpty',
  });
  blocked = false;
  controller.queue.add('x/a');
  await clock.advance(0);
  expect(thing()).toBeUndefined();
  expect(order.length).toBeGreaterThanOrEqual(2);
});
