import { expect, test } from 'vitest';
import { gatewayAddresses } from './gateway-addresses.ts';

const slice = (endpoints: object[], ports: object[] = [{ port: 8090 }]) => ({ endpoints, ports }) as never;

test.each<[string, never[], object[]]>([
  ['a process', [slice([{ addresses: ['10.244.0.2'] }])], [{ cidr: '10.244.0.2/32', port: 8090 }]],
  ['a process by IPv6', [slice([{ addresses: ['fd00::2'] }])], [{ cidr: 'fd00::2/128', port: 8090 }]],
  ['Pods, which rules find by their namespace', [slice([{ addresses: ['10.1.0.2'], targetRef: { kind: 'Pod' } }])], []],
  ['nothing yet', [], []],
  ['something without a port', [slice([{ addresses: ['10.1.0.2'] }], [])], []],
])('gatewayAddresses of %s', (_, slices, expected) => {
  expect(gatewayAddresses(slices)).toEqual(expected);
});
