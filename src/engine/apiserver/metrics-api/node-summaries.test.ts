import { expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { NodeSummaries } from './node-summaries.ts';

const aNode = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

test('those who ask at about the same time share an answer', async () => {
  const clock = new FakeClock();
  let asked = 0;
  const time = '2026-01-01T00:00:00Z';
  const node = { cpu: { time, usageNanoCores: 1 }, memory: { workingSetBytes: 1 } };
  const summaries = new NodeSummaries({ clock, fetch: () => Promise.resolve({ node, asked: asked++ }) });
  await Promise.all([summaries.of([aNode('a')]), summaries.of([aNode('a')])]);
  await clock.advance(4999);
  await summaries.of([aNode('a')]);
  expect(asked).toBe(1);
  await clock.advance(1);
  await summaries.of([aNode('a')]);
  expect(asked).toBe(2);
});

test('a node that does not answer is told apart, the others are told', async () => {
  const fetch = ({ metadata }: KubeObject) => (metadata.name === 'b' ? Promise.reject(new Error('gone')) : Promise.resolve({}));
  const answers = await new NodeSummaries({ clock: new FakeClock(), fetch }).of([aNode('a'), aNode('b')]);
  expect(answers).toEqual([
    { node: 'a', summary: { node: undefined, pods: new Map() } },
    { node: 'b', failure: 'gone' },
  ]);
});

test('a node that cannot tell everything yet is asked again soon', async () => {
  const clock = new FakeClock();
  let asked = 0;
  const summaries = new NodeSummaries({ clock, fetch: () => Promise.resolve({ asked: asked++ }) });
  await summaries.of([aNode('a')]);
  await clock.advance(1000);
  await summaries.of([aNode('a')]);
  expect(asked).toBe(2);
});
