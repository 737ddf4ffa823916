import { expect, it } from 'vitest';
import { keptService, keptSlice, serviceSelection, sliceSelection } from './kept-objects.ts';
import type { ServiceObject, SliceObject } from './wanted-balancers.ts';

const LONG = 'x'.repeat(100_000);
const METADATA = { name: 's', namespace: 'web', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' };
const LABELS = { 'kubernetes.io/service-name': 'front' };

function aService(spec: ServiceObject['spec'], ingress?: unknown[]): ServiceObject {
  const status = ingress && { loadBalancer: { ingress } };
  return { apiVersion: 'v1', kind: 'Service', metadata: METADATA, spec, ...(status && { status }) } as ServiceObject;
}

function aSlice(changes: Partial<SliceObject> = {}): SliceObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...METADATA, labels: LABELS },
    addressType: 'IPv4',
    ...changes,
  } as SliceObject;
}

it('of a Service what it is balanced by is kept', () => {
  const spec: ServiceObject['spec'] = {
    type: 'LoadBalancer',
    sessionAffinity: 'ClientIP',
    externalTrafficPolicy: 'Local',
    loadBalancerIP: '10.0.1.9',
    loadBalancerSourceRanges: ['10.0.0.0/8'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 }],
  };
  const ingress = [{ ip: '10.0.1.9', ipMode: 'VIP' }];
  const whole = aService({ ...spec, selector: { a: LONG }, externalName: LONG }, ingress);
  expect(keptService({ ...whole, metadata: { ...METADATA, annotations: { a: LONG } } })).toEqual(aService(spec, ingress));
});

it('a Service is kept with one port and one range more than are served, and nothing at any length', () => {
  const ports = Array.from({ length: 1000 }, (_, at) => ({ port: at + 1, protocol: 'TCP' as const }));
  const kept = keptService(
    aService({ type: 'LoadBalancer', ports, loadBalancerIP: LONG, loadBalancerSourceRanges: Array.from({ length: 1000 }, () => LONG) }),
  );
  expect([kept.spec?.ports?.length, kept.spec?.loadBalancerSourceRanges?.length, kept.spec?.loadBalancerIP]).toEqual([257, 65, 'too long']);
  expect(serviceSelection(() => {}).ceiling!.weigh!(kept)).toBe(1 + 257 + 65);
});

it('what somebody else wrote where a Service is reached is not taken for ours', () => {
  const ports = [{ port: 1, error: 'Bad', protocol: 'TCP' }];
  const { status } = keptService(aService({}, [{ ip: '10.0.1.9', ipMode: 'VIP', ports }]));
  expect(status?.loadBalancer?.ingress).toEqual([{ hostname: 'another' }]);
});

it('of an EndpointSlice the ready endpoints are kept, by their first address', () => {
  const kept = keptSlice(
    aSlice({
      endpoints: [
        { addresses: ['10.128.0.5', '10.128.0.6'], nodeName: 'w1', hostname: LONG, conditions: { ready: true } },
        { addresses: ['10.128.0.7'], conditions: { ready: false } },
      ],
      ports: [{ name: 'http', port: 8080, appProtocol: LONG }],
    }),
  )!;
  expect(kept).toMatchObject({
    metadata: { labels: LABELS },
    endpoints: [{ addresses: ['10.128.0.5'], nodeName: 'w1' }],
    ports: [{ name: 'http', port: 8080 }],
  });
  expect(JSON.stringify(kept).length).toBeLessThan(500);
  expect(sliceSelection(() => {}).ceiling!.weigh!(kept)).toBe(3);
});

it.each<[string, Partial<SliceObject>]>([
  ['of IPv6', { addressType: 'IPv6' }],
  ['of no Service', { metadata: METADATA }],
])('an EndpointSlice %s is not kept', (_name, changes) => {
  expect(keptSlice(aSlice({ endpoints: [], ...changes }))).toBeUndefined();
});
