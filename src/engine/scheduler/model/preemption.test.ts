import { expect, test } from 'vitest';
import { aCluster, aNode, aPod, type NodeBuilder, type PodBuilder } from '../testing/builders.ts';
import { decide } from './decide.ts';
import {
  bestCandidate,
  budgetOf,
  notHelpfulText,
  preemptionNodes,
  victimsOn,
  whyNotEligible,
  type Budget,
  type Candidate,
} from './preemption.ts';
import type { Refusal } from './filter.ts';

const budget = (name: string, allowed: number): Budget =>
  budgetOf({
    metadata: { namespace: 'default' },
    spec: { selector: { matchLabels: { app: name } } },
    status: { disruptionsAllowed: allowed },
  });

/** `node: victims`, or what `preemption:` says. */
function outcome(pod: PodBuilder, nodes: NodeBuilder[], budgets: Budget[] = []): string {
  const cluster = aCluster(nodes);
  const info = pod.info();
  const decision = decide(info, cluster, 0, () => 1);
  const refusals = new Map<string, Refusal>();
  const candidates: Candidate[] = [];
  for (const node of preemptionNodes(cluster, decision.diagnosis!)) {
    const found = victimsOn(info, node, decision.cycle!, cluster, budgets);
    if ('victims' in found) candidates.push(found);
    else refusals.set(node.name, found);
  }
  const best = bestCandidate(candidates);
  return best
    ? `${best.node.name}: ${best.victims.map(({ pod: { metadata } }) => metadata.name).join(' ')}`
    : notHelpfulText(refusals, nodes.length);
}

const one = (name: string, priority = 0): PodBuilder => aPod(name).ofPriority(priority).requesting({ cpu: '1' });
const important = (cpu = '1'): PodBuilder => aPod('new').ofPriority(10).requesting({ cpu });
const full = (name: string, ...pods: PodBuilder[]): NodeBuilder =>
  aNode(name)
    .with({ cpu: String(pods.length) })
    .holding(...pods);

test.each<[string, PodBuilder, NodeBuilder[], Budget[], string]>([
  ['the one of the lowest priority goes', important(), [full('a', one('x', 5), one('y', 1))], [], 'a: y'],
  [
    'of equals the youngest goes',
    important(),
    [full('a', one('x').startedAt('2026-01-01T00:00:00Z'), one('y').startedAt('2026-01-02T00:00:00Z'))],
    [],
    'a: y',
  ],
  ['as many go as have to', important('2'), [full('a', one('x', 5), one('y', 1), one('z', 3))], [], 'a: z y'],
  ['the node with the least important victim is chosen', important(), [full('a', one('x', 5)), full('b', one('y', 1))], [], 'b: y'],
  [
    'the node with fewer victims is chosen',
    important('2'),
    [full('a', one('x'), one('y')), full('b', aPod('z').requesting({ cpu: '2' })).with({ cpu: '2' })],
    [],
    'b: z',
  ],
  ['budgets are kept where possible', important(), [full('a', one('x').labelled({ app: 'x' }), one('y'))], [budget('x', 0)], 'a: y'],
  [
    'a node without violations is chosen',
    important(),
    [full('a', one('x').labelled({ app: 'x' })), full('b', one('y', 5))],
    [budget('x', 0)],
    'b: y',
  ],
  ['budgets do not save anybody', important(), [full('a', one('x').labelled({ app: 'x' }))], [budget('x', 0)], 'a: x'],
  ['a host port is freed', important('0').onHostPort(80), [aNode('a').holding(aPod('x').onHostPort(80), aPod('y'))], [], 'a: x'],
  [
    'anti-affinity is freed',
    important('0').awayFrom({ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'x' } } }),
    [aNode('a').holding(aPod('x').labelled({ app: 'x' }), aPod('y'))],
    [],
    'a: x',
  ],
  [
    'nobody less important is there',
    important(),
    [full('a', one('x', 10)), full('b', one('y', 11))],
    [],
    '0/2 nodes are available: 2 No preemption victims found for incoming pod.',
  ],
  [
    'no Pod is in the way',
    important('64'),
    [full('a', one('x')), aNode('b').tainted({ key: 'k', effect: 'NoSchedule' })],
    [],
    '0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
  ],
])('making room, %s', (_name, pod, nodes, budgets, expected) => {
  expect(outcome(pod, nodes, budgets)).toBe(expected);
});

test('a Pod that may not push others away says why', () => {
  const leaving = one('x')
    .withMetadata({ deletionTimestamp: 'now' })
    .withStatus({ conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }] });
  const node = full('a', leaving).info();
  expect(whyNotEligible(important().with({ preemptionPolicy: 'Never' }).info(), undefined, undefined)).toBe(
    'not eligible due to preemptionPolicy=Never.',
  );
  expect(whyNotEligible(important().info(), node, undefined)).toBe('not eligible due to a terminating pod on the nominated node.');
  expect(whyNotEligible(important().info(), node, { filter: 'NodeAffinity', reasons: ['r'], final: true })).toBeUndefined();
  expect(whyNotEligible(important().info(), full('a', one('x')).info(), undefined)).toBeUndefined();
});
