import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { parseResolvConf, podResolvConf } from './resolv-conf.ts';

function aPod(spec: Json): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop', uid: 'u1' }, spec };
}

const input = {
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  nodeResolvConf: '# c\nnameserver 9.9.9.9\nsearch old\nsearch corp.example. example.com\noptions timeout:2 rotate\n',
};
const CLUSTER =
  'search shop.svc.cluster.local svc.cluster.local cluster.local corp.example example.com\nnameserver 10.96.0.10\noptions ndots:5\n';
const NODE = 'search corp.example example.com\nnameserver 9.9.9.9\noptions timeout:2 rotate\n';

describe('podResolvConf', () => {
  const cases: [string, Json, string][] = [
    ['no policy written', {}, CLUSTER],
    ['ClusterFirst', { dnsPolicy: 'ClusterFirst' }, CLUSTER],
    ['ClusterFirst on the network of the machine', { dnsPolicy: 'ClusterFirst', hostNetwork: true }, NODE],
    ['ClusterFirstWithHostNet', { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, CLUSTER],
    ['Default', { dnsPolicy: 'Default' }, NODE],
    [
      'None takes everything from dnsConfig',
      {
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['1.1.1.1'], searches: ['x.y'], options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }] },
      },
      'search x.y\nnameserver 1.1.1.1\noptions ndots:2 edns0\n',
    ],
    [
      'dnsConfig adds to the policy, overrides options, and repeats nothing',
      { dnsConfig: { nameservers: ['10.96.0.10', '8.8.8.8'], searches: ['cluster.local', 'z'], options: [{ name: 'ndots', value: '1' }] } },
      'search shop.svc.cluster.local svc.cluster.local cluster.local corp.example example.com z\nnameserver 10.96.0.10\nnameserver 8.8.8.8\noptions ndots:1\n',
    ],
  ];

  it.each(cases)('%s', (_, spec, content) => {
    expect(podResolvConf(aPod(spec), input)).toEqual({ content, notes: [] });
  });

  it('falls back to the settings of the machine and says so when the cluster has no DNS', () => {
    const { content, notes } = podResolvConf(aPod({}), { ...input, clusterDns: [] });
    expect(content).toBe(NODE);
    expect(notes).toEqual([
      {
        reason: 'MissingClusterDNS',
        message:
          'pod: "web_shop(u1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
      },
    ]);
  });

  it('keeps three nameservers and says so', () => {
    const { content, notes } = podResolvConf(aPod({ dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3'] } }), input);
    expect(content.match(/nameserver/g)).toHaveLength(3);
    expect(notes[0].message).toBe(
      'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.96.0.10 1.1.1.1 1.1.1.2',
    );
  });

  it.each([
    ['more than 32', Array.from({ length: 40 }, (_, index) => `d${index}`), 32],
    ['a name that is too long', ['x'.repeat(254)], 5],
    ['a line that is too long', Array.from({ length: 20 }, (_, index) => `${index}${'y'.repeat(200)}`), 5 + 9],
  ])('leaves out searches: %s', (_, searches, count) => {
    const { content, notes } = podResolvConf(aPod({ dnsConfig: { searches } }), input);
    const kept = content.split('\n')[0].split(' ').slice(1);
    expect(kept).toHaveLength(count);
    expect(notes[0].message).toContain('Search Line limits were exceeded');
  });
});

describe('parseResolvConf', () => {
  it('takes the last of options that are written twice and ignores comments and odd lines', () => {
    expect(parseResolvConf('#nameserver 1.1.1.1\noptions ndots:1 a\noptions ndots:3\nnameserver\nsearch .\n\tnameserver ::1 \n')).toEqual({
      nameservers: ['::1'],
      searches: [],
      options: ['ndots:3', 'a'],
    });
  });
});
