import { expect, test } from 'vitest';
import type { KubeList, KubeObject } from '../kube/object.ts';
import { failure } from '../kube/status.ts';
import { eachItem, wholeList, type FetchPage } from './list-pages.ts';

const item = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const page = (names: string, next = ''): KubeList => ({
  apiVersion: 'v1',
  kind: 'List',
  metadata: { resourceVersion: '9', continue: next },
  items: names.split('').map(item),
});

function scripted(answers: (KubeList | Error)[]): { fetch: FetchPage<KubeObject>; asked: object[] } {
  const asked: object[] = [];
  return {
    asked,
    fetch(request) {
      asked.push(request);
      const answer = answers.shift()!;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
}

function expired(token?: string): Error {
  const error = failure('Expired', 'The provided continue parameter is too old');
  if (token) error.status.metadata.continue = token;
  return error;
}

async function names(items: AsyncIterable<KubeObject>): Promise<string> {
  let text = '';
  for await (const one of items) text += one.metadata.name;
  return text;
}

test('eachItem follows continue to the end', async () => {
  const { fetch, asked } = scripted([page('ab', 't1'), page('cd', 't2'), page('e')]);
  expect(await names(eachItem(fetch, 2))).toBe('abcde');
  expect(asked).toEqual([
    { continue: undefined, limit: 2 },
    { continue: 't1', limit: 2 },
    { continue: 't2', limit: 2 },
  ]);
});

test('eachItem goes on with the token of the refusal when the snapshot is gone', async () => {
  const { fetch, asked } = scripted([page('ab', 't1'), expired('fresh'), page('cd')]);
  expect(await names(eachItem(fetch, 2))).toBe('abcd');
  expect(asked.at(-1)).toEqual({ continue: 'fresh', limit: 2 });
});

test('eachItem starts over without repeating when the refusal has no token', async () => {
  const { fetch } = scripted([page('ab', 't1'), expired(), page('abx', 't2'), page('c')]);
  expect(await names(eachItem(fetch, 2))).toBe('abxc');
});

test('eachItem throws an expiry of the first page', async () => {
  await expect(names(eachItem(scripted([expired()]).fetch, 2))).rejects.toMatchObject({ code: 410 });
});

test('wholeList joins pages under the version of the first', async () => {
  const list = await wholeList(scripted([page('ab', 't1'), page('c')]).fetch, 2);
  expect(list.items.map((one) => one.metadata.name)).toEqual(['a', 'b', 'c']);
  expect(list.metadata).toEqual({ resourceVersion: '9' });
});

test('wholeList fetches everything in one piece when the snapshot is gone', async () => {
  const { fetch, asked } = scripted([page('ab', 't1'), expired('ignored'), page('xyz')]);
  const list = await wholeList(fetch, 2);
  expect(list.items).toHaveLength(3);
  expect(asked.at(-1)).toEqual({});
});
