import { expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { NodeSummaries } from './node-summaries.ts';

const node = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

test('those who ask at about the same time share an answer', async () => {
  const clock = new FakeClock();
  let asked = 0;
  const summaries = new NodeSummaries({ clock, fetch: () => Promise.resolve({ asked: asked++ }) });
  await Promise.all([summaries.of([node('a')]), summaries.of([node('a')])]);
  await clock.advance(4999);
  await summaries.of([node('a')]);
  expect(asked).toBe(1);
  await clock.advance(1);
  await summaries.of([node('a')]);
  expect(asked).toBe(2);
});

test('a node that does not answer is told apart, the others are told', async () => {
  const fetch = ({ metadata }: KubeObject) => (metadata.name === 'b' ? Promise.reject(new Error('gone')) : Promise.resolve({}));
  const answers = await new NodeSummaries({ clock: new FakeClock(), fetch }).of([node('a'), node('b')]);
  expect(answers).toEqual([
    { node: 'a', summary: { node: undefined, pods: new Map() } },
    { node: 'b', failure: 'gone' },
  ]);
});
