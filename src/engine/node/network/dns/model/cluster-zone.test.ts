import { describe, expect, it } from 'vitest';
import { RCODE, TYPE } from '../../../../../lib/dns/message.ts';
import type { Json, KubeObject } from '../../../../../kube/object.ts';
import { answerFromCluster, type ClusterRecords } from './cluster-zone.ts';

const service = (name: string, spec: Json): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'ns' },
  spec,
});
const services = [
  service('web', { clusterIP: '10.0.0.5', ports: [{ name: 'http', port: 80 }] }),
  service('db', { clusterIP: 'None', ports: [{ name: 'sql', port: 5432 }] }),
  service('idle', { clusterIP: 'None' }),
  service('out', { type: 'ExternalName', externalName: 'example.test' }),
  service('in', { type: 'ExternalName', externalName: 'web.ns.svc.cluster.local' }),
  service('loop', { type: 'ExternalName', externalName: 'loop.ns.svc.cluster.local' }),
];
const slice: KubeObject = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'db-1', namespace: 'ns', labels: { 'kubernetes.io/service-name': 'db' } },
  addressType: 'IPv4',
  ports: [{ name: 'sql', port: 5432, protocol: 'TCP' }],
  endpoints: [
    { addresses: ['10.1.0.1'], hostname: 'db-0', conditions: { ready: true } },
    { addresses: ['10.1.0.2'], conditions: { ready: true } },
    { addresses: ['10.1.0.3'], hostname: 'db-2', conditions: { ready: false } },
  ],
};
const records: ClusterRecords = {
  service: (namespace, name) => services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
  hasServices: (namespace) => namespace === 'ns',
  slices: (_, name) => (name === 'db' ? [slice] : []),
  servicesAt: (address) => services.filter(({ spec }) => spec.clusterIP === address),
  slicesWith: (address) => (slice.endpoints.some((e: Json) => e.addresses.includes(address)) ? [slice] : []),
  hasPod: (namespace, address) => namespace === 'ns' && address === '10.1.0.1',
};
const ask = (name: string, type: number = TYPE.A) => answerFromCluster({ name, type, class: 1 }, 'cluster.local', records);
const summary = (name: string, type?: number): string | undefined => {
  const answer = ask(name, type);
  if (!answer) return undefined;
  if (answer.rcode === RCODE.NXDOMAIN) return 'NXDOMAIN';
  if (answer.rcode === RCODE.SERVFAIL) return 'SERVFAIL';
  return answer.answers
    .map((record) =>
      'address' in record
        ? record.address
        : 'port' in record
          ? `${record.port} ${record.target}`
          : 'target' in record
            ? record.target
            : 'text' in record
              ? record.text
              : '',
    )
    .join(', ');
};

describe('the zone of the cluster', () => {
  it.each<[string, number, string | undefined]>([
    ['web.ns.svc.cluster.local', TYPE.A, '10.0.0.5'],
    ['web.ns.svc.cluster.local', TYPE.ANY, '10.0.0.5'],
    ['web.ns.svc.cluster.local', TYPE.AAAA, ''],
    ['web.ns.svc.cluster.local', TYPE.SRV, '80 web.ns.svc.cluster.local'],
    ['_http._tcp.web.ns.svc.cluster.local', TYPE.SRV, '80 web.ns.svc.cluster.local'],
    ['_http._tcp.web.ns.svc.cluster.local', TYPE.A, ''],
    ['_http._udp.web.ns.svc.cluster.local', TYPE.SRV, 'NXDOMAIN'],
    ['_ftp._tcp.web.ns.svc.cluster.local', TYPE.SRV, 'NXDOMAIN'],
    ['a.web.ns.svc.cluster.local', TYPE.A, 'NXDOMAIN'],
    ['db.ns.svc.cluster.local', TYPE.A, '10.1.0.1, 10.1.0.2'],
    ['db-0.db.ns.svc.cluster.local', TYPE.A, '10.1.0.1'],
    ['10-1-0-2.db.ns.svc.cluster.local', TYPE.A, '10.1.0.2'],
    ['db-2.db.ns.svc.cluster.local', TYPE.A, 'NXDOMAIN'],
    ['_sql._tcp.db.ns.svc.cluster.local', TYPE.SRV, '5432 db-0.db.ns.svc.cluster.local, 5432 10-1-0-2.db.ns.svc.cluster.local'],
    ['idle.ns.svc.cluster.local', TYPE.A, 'NXDOMAIN'],
    ['out.ns.svc.cluster.local', TYPE.A, 'example.test'],
    ['out.ns.svc.cluster.local', TYPE.CNAME, 'example.test'],
    ['in.ns.svc.cluster.local', TYPE.A, 'web.ns.svc.cluster.local, 10.0.0.5'],
    ['in.ns.svc.cluster.local', TYPE.AAAA, 'web.ns.svc.cluster.local'],
    ['loop.ns.svc.cluster.local', TYPE.A, 'SERVFAIL'],
    ['10-1-0-1.ns.pod.cluster.local', TYPE.A, '10.1.0.1'],
    ['10-1-0-9.ns.pod.cluster.local', TYPE.A, 'NXDOMAIN'],
    ['10-1-0-1.other.pod.cluster.local', TYPE.A, 'NXDOMAIN'],
    ['ns.svc.cluster.local', TYPE.A, ''],
    ['other.svc.cluster.local', TYPE.A, 'NXDOMAIN'],
    ['svc.cluster.local', TYPE.A, ''],
    ['cluster.local', TYPE.A, ''],
    ['what.cluster.local', TYPE.A, 'NXDOMAIN'],
    ['dns-version.cluster.local', TYPE.TXT, '1.1.0'],
    ['5.0.0.10.in-addr.arpa', TYPE.PTR, 'web.ns.svc.cluster.local'],
    ['1.0.1.10.in-addr.arpa', TYPE.PTR, 'db-0.db.ns.svc.cluster.local'],
    ['9.9.9.10.in-addr.arpa', TYPE.PTR, undefined],
    ['example.test', TYPE.A, undefined],
    ['notcluster.local', TYPE.A, undefined],
  ])('answers %s of type %i with %s', (name, type, expected) => {
    expect(summary(name, type)).toBe(expected);
  });

  it('says when a name of elsewhere must be looked up', () => {
    expect(ask('out.ns.svc.cluster.local')).toMatchObject({ follow: 'example.test' });
    expect(ask('in.ns.svc.cluster.local')!.follow).toBeUndefined();
  });
});
