import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { Event, Namespace, Node, Pod, PodDisruptionBudget, PriorityClass } from '../../../src/client/kinds.ts';
import { aNode, aPod, type NodeBuilder, type PodBuilder } from '../../../src/engine/scheduler/testing/builders.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { eventually } from '../controllers/eventually.ts';

/** What a scheduler does, with any API server and any scheduler that `connect` starts. */
export function schedulerSuite(name: string, connect: () => Promise<{ client: Client }>): void {
  describe(`scheduler on ${name}`, () => {
    let client: Client;
    beforeAll(async () => {
      ({ client } = await connect());
    });

    let count = 0;

    /** A namespace and a set of nodes of its own for each test, tied together by a label. */
    async function setUp(...nodes: NodeBuilder[]) {
      const pool = `t${++count}`;
      await client.resource(Namespace).create({ metadata: { name: pool } });
      await eventually(
        () => client.resource(Namespace).get(pool),
        (namespace) => namespace.status?.phase === 'Active',
      );
      for (const node of nodes) await addNode(pool, node);
      const pods = client.resource(Pod, pool);
      return {
        pool,
        pods,
        async add(pod: PodBuilder): Promise<KubeObject> {
          const { metadata, spec } = pod.object();
          const nodeSelector = { ...spec?.nodeSelector, pool };
          const { name, labels } = metadata;
          return pods.create({
            metadata: { name, labels, namespace: pool },
            spec: { ...spec, nodeSelector, terminationGracePeriodSeconds: 0 },
          });
        },
        nodeOf: (name: string) =>
          eventually(
            () => pods.get(name),
            ({ spec }) => Boolean(spec?.nodeName),
          ).then(({ spec }) => spec!.nodeName),
        refusalOf: (name: string, text: string) =>
          eventually(
            () => pods.get(name),
            (pod) => condition(pod)?.status === 'False' && condition(pod).message.includes(text),
          ).then(condition),
      };
    }

    async function addNode(pool: string, builder: NodeBuilder): Promise<void> {
      const { metadata, spec, status } = builder.labelled({ pool }).object();
      const nodes = client.resource(Node);
      const name = `${pool}-${metadata.name}`;
      await nodes.create({ metadata: { name, labels: metadata.labels }, spec, status });
      // New nodes are tainted until their lifecycle is looked after.
      await eventually(
        () => nodes.get(name),
        (node) => !node.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/not-ready'),
      );
    }

    function condition(pod: KubeObject): Json {
      return pod.status?.conditions?.find(({ type }: Json) => type === 'PodScheduled');
    }

    test('a Pod gets a node, the condition that says so, and an event', async () => {
      const { pool, add, nodeOf, pods } = await setUp(aNode('a'));
      await add(aPod('web').requesting({ cpu: '1' }));
      expect(await nodeOf('web')).toBe(`${pool}-a`);
      expect(condition(await pods.get('web'))).toMatchObject({ status: 'True' });
      const events = await eventually(
        () => client.resource(Event, pool).listAll(),
        ({ items }) => items.length > 0,
      );
      expect(events.items[0]).toMatchObject({
        reason: 'Scheduled',
        note: `Successfully assigned ${pool}/web to ${pool}-a`,
        type: 'Normal',
      });
    });

    test('a Pod that fits nowhere is told why, and is placed when a node comes', async () => {
      const { pool, add, nodeOf, refusalOf } = await setUp(aNode('a').with({ cpu: '1' }));
      await add(aPod('big').requesting({ cpu: '2' }));
      const refused = await refusalOf('big', 'Insufficient cpu');
      expect(refused).toMatchObject({ status: 'False', reason: 'Unschedulable' });
      expect(refused.message).toMatch(
        /^0\/\d+ nodes are available: .*1 Insufficient cpu.*\. no new claims to deallocate, preemption: 0\/\d+ nodes are available: .*\.$/,
      );
      await addNode(pool, aNode('b'));
      expect(await nodeOf('big')).toBe(`${pool}-b`);
    });

    test('Pods wait for room, and take it in the order of their arrival when a Pod leaves', async () => {
      const { add, nodeOf, pods, refusalOf } = await setUp(aNode('a').with({ cpu: '1' }));
      await add(aPod('first').requesting({ cpu: '1' }));
      await nodeOf('first');
      await add(aPod('second').requesting({ cpu: '1' }));
      await add(aPod('third').requesting({ cpu: '1' }));
      await refusalOf('second', 'Insufficient cpu');
      await refusalOf('third', 'Insufficient cpu');
      await pods.delete('first', { gracePeriodSeconds: 0 });
      await nodeOf('second');
      expect((await pods.get('third')).spec?.nodeName).toBeUndefined();
    });

    test('Pods of another scheduler and Pods with gates are left alone until the gates are gone', async () => {
      const { add, nodeOf, pods } = await setUp(aNode('a'));
      await add(aPod('other').with({ schedulerName: 'mine' }));
      await add(aPod('gated').with({ schedulingGates: [{ name: 'example.com/wait' }] }));
      await add(aPod('last'));
      await nodeOf('last');
      expect((await pods.get('other')).spec?.nodeName).toBeUndefined();
      expect((await pods.get('gated')).spec?.nodeName).toBeUndefined();
      await pods.patch('gated', { type: 'merge', patch: { spec: { schedulingGates: [] } } });
      await nodeOf('gated');
    });

    test('a more important Pod pushes others away, budgets permitting, and is promised the node', async () => {
      const { pool, add, nodeOf, pods } = await setUp(aNode('a').with({ cpu: '2' }));
      await client.resource(PriorityClass).create({ metadata: { name: `${pool}-high` }, value: 1000 });
      const kept = await client.resource(PodDisruptionBudget, pool).create({
        metadata: { name: 'kept' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } },
      });
      expect(kept.metadata.name).toBe('kept');
      await add(aPod('kept').labelled({ app: 'kept' }).requesting({ cpu: '1' }));
      await add(aPod('victim').requesting({ cpu: '1' }));
      await nodeOf('kept');
      await nodeOf('victim');
      await add(
        aPod('important')
          .with({ priorityClassName: `${pool}-high` })
          .requesting({ cpu: '1' }),
      );
      // Bound Pods leave when their node says so: here nobody does.
      await eventually(
        () => pods.get('victim').catch(() => undefined),
        (pod) => pod === undefined || pod.metadata.deletionTimestamp !== undefined,
      );
      await pods.delete('victim', { gracePeriodSeconds: 0 }).catch(() => {});
      expect(await nodeOf('important')).toBe(`${pool}-a`);
      expect((await pods.get('kept')).metadata.deletionTimestamp).toBeUndefined();
    });

    test('a node that is cordoned gets nobody until it is open again', async () => {
      const { pool, add, nodeOf, refusalOf } = await setUp(aNode('a').cordoned());
      await add(aPod('web'));
      await refusalOf('web', 'node(s) were unschedulable');
      await client.resource(Node).patch(`${pool}-a`, { type: 'merge', patch: { spec: { unschedulable: null } } });
      expect(await nodeOf('web')).toBe(`${pool}-a`);
    });

    test('a Pod that wants to be near another waits for it', async () => {
      const { add, nodeOf, refusalOf } = await setUp(aNode('a'));
      const near = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'db' } } };
      await add(aPod('web').near(near));
      await refusalOf('web', "didn't match pod affinity rules");
      await add(aPod('db').labelled({ app: 'db' }));
      await nodeOf('web');
    });

    test('three hundred Pods on three nodes never exceed what the nodes have', async () => {
      const { pool, add, pods } = await setUp(...['a', 'b', 'c'].map((name) => aNode(name).with({ cpu: '10' })));
      await Promise.all(Array.from({ length: 310 }, (_, i) => add(aPod(`p${i}`).requesting({ cpu: '100m' }))));
      const { items } = await eventually(
        () => pods.listAll(),
        (list) => list.items.every((pod) => condition(pod) !== undefined),
      );
      const byNode = new Map<string, number>();
      for (const { spec } of items) byNode.set(spec?.nodeName ?? '', (byNode.get(spec?.nodeName ?? '') ?? 0) + 1);
      expect(Object.fromEntries(byNode)).toEqual({ [`${pool}-a`]: 100, [`${pool}-b`]: 100, [`${pool}-c`]: 100, '': 10 });
    });
  });
}
