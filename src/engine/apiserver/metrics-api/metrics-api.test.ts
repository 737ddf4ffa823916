import { describe, expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { ObjectsInMemory } from '../admission/testing/objects-in-memory.ts';
import { parseRequestInfo } from '../chain/request-info.ts';
import type { ApiRequest } from '../chain/request.ts';
import { MetricsApi } from './metrics-api.ts';
import { readSummary } from './model/summary.ts';

const time = '2026-01-01T00:00:00Z';
const NOW = new Date('2026-01-01T00:00:05Z');
const NODES = { group: '', resource: 'nodes' };
const PODS = { group: '', resource: 'pods' };
const stats = (nano: number, bytes: number): Json => ({ cpu: { time, usageNanoCores: nano }, memory: { time, workingSetBytes: bytes } });

const SUMMARIES: Record<string, Json> = {
  a: {
    node: stats(1_500_000_000, 2 ** 30),
    pods: [
      {
        podRef: { name: 'web', namespace: 'shop', uid: 'u1' },
        containers: [
          { name: 'c', ...stats(1_234_567, 11_603_968) },
          { name: 'd', ...stats(1, 1024) },
        ],
      },
      { podRef: { name: 'old', namespace: 'shop', uid: 'before' }, containers: [{ name: 'c', ...stats(1, 1) }] },
      { podRef: { name: 'db', namespace: 'back', uid: 'u3' }, containers: [{ name: 'c', ...stats(1000, 1) }] },
    ],
  },
};

function pod(namespace: string, name: string, uid: string, nodeName: string | undefined, labels: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, uid, labels }, spec: { nodeName } };
}

function api(): MetricsApi {
  const objects = new ObjectsInMemory();
  for (const name of ['a', 'b']) objects.put(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { zone: name } } });
  objects.put(PODS, pod('shop', 'web', 'u1', 'a', { app: 'web' }));
  objects.put(PODS, pod('shop', 'old', 'u2', 'a'));
  objects.put(PODS, pod('shop', 'pending', 'u4', undefined));
  objects.put(PODS, pod('shop', 'lost', 'u5', 'b', { app: 'web' }));
  objects.put(PODS, pod('back', 'db', 'u3', 'a'));
  const of = (nodes: readonly KubeObject[]) =>
    Promise.resolve(
      nodes.map(({ metadata: { name } }) =>
        SUMMARIES[name!] ? { node: name!, summary: readSummary(SUMMARIES[name!]) } : { node: name!, failure: 'no answer within 5000 ms' },
      ),
    );
  return new MetricsApi({ reader: objects, summaries: { of }, now: () => NOW });
}

async function ask(url: string, accept = 'application/json', method = 'GET'): Promise<{ body: Json; warnings: string[] }> {
  const [path, search = ''] = `/apis/metrics.k8s.io/v1beta1${url}`.split('?');
  const query = new URLSearchParams(search);
  const warnings: string[] = [];
  const info = parseRequestInfo(method, path, (name) => query.get(name) ?? undefined);
  const request = { method, info, query, headers: { accept }, warnings } as unknown as ApiRequest;
  const response = await api().answer(request)!;
  if (response.body.kind !== 'object') throw new Error('not an object');
  return { body: response.body.value(), warnings };
}

const namesIn = ({ items }: Json): string[] => items.map(({ metadata }: Json) => metadata.name);

describe('metrics.k8s.io', () => {
  test('a Pod with what each container uses', async () => {
    const { body } = await ask('/namespaces/shop/pods/web');
    expect(body).toEqual({
      kind: 'PodMetrics',
      apiVersion: 'metrics.k8s.io/v1beta1',
      metadata: { name: 'web', namespace: 'shop', creationTimestamp: '2026-01-01T00:00:05Z', labels: { app: 'web' } },
      timestamp: time,
      window: '10s',
      containers: [
        { name: 'c', usage: { cpu: '1234567n', memory: '11332Ki' } },
        { name: 'd', usage: { cpu: '1n', memory: '1Ki' } },
      ],
    });
  });

  test('a node', async () => {
    const { body, warnings } = await ask('/nodes/a');
    expect(body).toMatchObject({
      kind: 'NodeMetrics',
      metadata: { name: 'a', labels: { zone: 'a' } },
      usage: { cpu: '1500m', memory: '1Gi' },
    });
    expect(warnings).toEqual([]);
  });

  test('a list of nodes has those that answered, and a warning for the rest', async () => {
    const { body, warnings } = await ask('/nodes');
    expect(body).toMatchObject({ kind: 'NodeMetricsList', items: [{ metadata: { name: 'a' } }] });
    expect(body.items).toHaveLength(1);
    expect(warnings).toEqual(['metrics of node "b" are missing: no answer within 5000 ms']);
  });

  test.each([
    ['/pods', ['web', 'db']],
    ['/namespaces/shop/pods', ['web']],
    ['/namespaces/shop/pods?labelSelector=app%3Dweb', ['web']],
    ['/namespaces/shop/pods?labelSelector=app!%3Dweb', []],
    ['/pods?fieldSelector=metadata.namespace%3Dback', ['db']],
    ['/nodes?labelSelector=zone%3Db', []],
  ])('%s lists what was measured of what was selected', async (url, names) => {
    expect(namesIn((await ask(url)).body)).toEqual(names);
  });

  test('a Pod that has the name of one before is not told its usage', async () => {
    await expect(ask('/namespaces/shop/pods/old')).rejects.toMatchObject({
      message: 'podmetrics.metrics.k8s.io "shop/old" not found',
      code: 404,
    });
  });

  test.each([
    ['/namespaces/shop/pods/pending', 'GET', 404, 'podmetrics.metrics.k8s.io "shop/pending" not found'],
    ['/namespaces/shop/pods/nobody', 'GET', 404, 'pods "nobody" not found'],
    ['/nodes/b', 'GET', 404, 'nodemetrics.metrics.k8s.io "b" not found'],
    ['/nodes/c', 'GET', 404, 'nodes "c" not found'],
    ['/secrets', 'GET', 404, 'the server could not find the requested resource'],
    ['/namespaces/shop/pods/web/log', 'GET', 404, 'the server could not find the requested resource'],
    ['/namespaces/shop/pods', 'POST', 405, 'the server does not allow this method on the requested resource'],
    ['/namespaces/shop/pods?watch=true', 'GET', 405, 'the server does not allow this method on the requested resource'],
    ['/nodes?fieldSelector=spec.x%3Dy', 'GET', 400, 'field label not supported: spec.x'],
  ])('%s %s is refused', async (url, method, code, message) => {
    await expect(ask(url, undefined, method)).rejects.toMatchObject({ code, message });
  });

  test('people get a table', async () => {
    const { body } = await ask('/namespaces/shop/pods', 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json');
    expect(body.columnDefinitions.map(({ name }: Json) => name)).toEqual(['Name', 'cpu', 'memory', 'Window']);
    expect(body.rows).toMatchObject([{ cells: ['web', '1234568n', '11333Ki', '10s'], object: { kind: 'PartialObjectMetadata' } }]);
  });

  test('other APIs are not its business', () => {
    const info = parseRequestInfo('GET', '/apis/apps/v1/deployments', () => undefined);
    expect(api().answer({ info } as ApiRequest)).toBeUndefined();
  });
});
