import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { testingKinds } from '../testing-kinds.ts';

const { find } = testingKinds();

function advice(resource: string, group: string, object: Json, old?: Json): string[] {
  return find(resource, group).strategy.warnings!(object, old);
}

describe('advice about Pods', () => {
  const pod = (containers: Json[]): Json => ({ metadata: { name: 'x' }, spec: { containers } });
  const cases: [name: string, containers: Json[], expected: string[]][] = [
    ['nothing odd', [{ env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 1, protocol: 'TCP' }] }], []],
    [
      'a variable twice',
      [
        {
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
          ],
        },
      ],
      ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      'a variable made of itself',
      [
        {
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '$(A)2' },
          ],
        },
      ],
      [],
    ],
    [
      'a port twice',
      [{ ports: [{ containerPort: 1, protocol: 'TCP' }] }, { ports: [{ containerPort: 1, protocol: 'TCP' }] }],
      ['spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]'],
    ],
    [
      'a port name twice',
      [
        {
          ports: [
            { containerPort: 1, protocol: 'TCP', name: 'p' },
            { containerPort: 2, protocol: 'TCP', name: 'p' },
          ],
        },
      ],
      [
        'spec.containers[0].ports[1]: duplicate port name "p" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
      ],
    ],
  ];
  test.each(cases)('%s', (_name, containers, expected) => expect(advice('pods', '', pod(containers))).toEqual(expected));

  test('is for those who create them', () => {
    const object = pod([{ env: [{ name: 'A' }, { name: 'A' }] }]);
    expect(advice('pods', '', object, object)).toEqual([]);
  });
});

test('a name that cannot be a host name is pointed out for what makes Pods', () => {
  const [found] = advice('deployments', 'apps', { metadata: { name: 'a.b' }, spec: { template: { spec: {} } } });
  expect(found).toBe(
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]',
  );
});

test('fields of a Service that have no effect are pointed out', () => {
  const spec = { type: 'ClusterIP', clusterIP: 'None', sessionAffinity: 'ClientIP', externalName: 'a' };
  expect(advice('services', '', { metadata: {}, spec })).toEqual([
    'spec.SessionAffinity is ignored for headless services',
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  ]);
});
