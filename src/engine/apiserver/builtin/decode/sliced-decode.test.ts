import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { testingKinds } from '../testing-kinds.ts';

const { find } = testingKinds();
const SCHEMA = {
  type: 'object',
  properties: {
    a: { type: 'array', items: { type: 'string' } },
    b: { type: 'object', additionalProperties: { type: 'integer' } },
    c: { additionalProperties: true },
  },
};

describe('decodeLarge gives what decode gives', () => {
  const cases: [resource: string, group: string, object: Json][] = [
    ['configmaps', '', { metadata: { name: 'x', labels: { b: '1', a: '2' } }, data: { b: '1', a: null }, binaryData: {} }],
    ['secrets', '', { stringData: { a: 'b' }, data: { c: '' } }],
    [
      'pods',
      '',
      {
        spec: {
          hostNetwork: true,
          containers: [{ name: 'c', image: 'a', ports: [{ containerPort: 1 }], resources: { limits: { cpu: '1500u' } } }, null],
        },
      },
    ],
    [
      'deployments',
      'apps',
      { spec: { template: { spec: { containers: [{ name: 'c', image: 'a:1', args: [null, 'x'] }], volumes: [{ name: 'v' }] } } } },
    ],
    ['jobs', 'batch', { spec: { template: { metadata: { labels: { a: 'b' } } } } }],
    [
      'customresourcedefinitions',
      'apiextensions.k8s.io',
      { spec: { names: { kind: 'K' }, versions: [{ name: 'v1', storage: true, schema: { openAPIV3Schema: SCHEMA } }] } },
    ],
  ];
  test.each(cases)('%s', async (resource, group, object) => {
    const { strategy, version } = find(resource, group);
    const large = await strategy.decodeLarge!(object, version);
    expect(JSON.stringify(large)).toBe(JSON.stringify(strategy.decode(object, version)));
  });

  test('unknown fields and wrong types included', async () => {
    const { strategy } = find('deployments', 'apps');
    const found: string[] = [];
    await strategy.decodeLarge!({ spec: { replica: 1, template: { spec: { containers: [{ nam: 'x' }] } } } }, 'v1', (path) =>
      found.push(path),
    );
    expect(found).toEqual(['spec.replica', 'spec.template.spec.containers[0].nam']);
    await expect(strategy.decodeLarge!({ spec: { replicas: 'x' } }, 'v1')).rejects.toThrow('DeploymentSpec.spec.replicas of type int32');
  });
});

test('decodeLarge lets others have their turn', async () => {
  const data = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, 'v']));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const decoded = await find('configmaps').strategy.decodeLarge!({ metadata: { name: 'x' }, data }, 'v1');
  clearInterval(timer);
  expect(Object.keys(decoded['data'])).toHaveLength(60_000);
  expect(turns).toBeGreaterThan(0);
});
